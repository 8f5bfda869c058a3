"""The OMEN protocol for AI agents, on a core in Rust."""

from omen._core import Cause, Finding, Findings, Summary, Validator, check, check_text, version
from omen._errors import ArgumentError, InputError, OmenError, PacketError, Problem, UsageError
from omen.gate import Gate, GateError, Refused, ToolFailed

__all__ = [
    "ArgumentError",
    "Cause",
    "Finding",
    "Findings",
    "Gate",
    "GateError",
    "InputError",
    "OmenError",
    "PacketError",
    "Problem",
    "Refused",
    "Summary",
    "ToolFailed",
    "UsageError",
    "Validator",
    "check",
    "check_text",
    "version",
]
__version__ = version()
