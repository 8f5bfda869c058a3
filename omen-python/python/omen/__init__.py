"""The OMEN protocol for AI agents, on a core in Rust."""

from omen._core import Cause, Finding, Findings, Summary, Validator, check, check_text, version
from omen._errors import ArgumentError, InputError, OmenError, PacketError, Problem, UsageError

__all__ = [
    "ArgumentError",
    "Cause",
    "Finding",
    "Findings",
    "InputError",
    "OmenError",
    "PacketError",
    "Problem",
    "Summary",
    "UsageError",
    "Validator",
    "check",
    "check_text",
    "version",
]
__version__ = version()
