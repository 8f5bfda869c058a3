"""The OMEN protocol for AI agents, on a core in Rust."""

from omen._core import Cause, Finding, Findings, Summary, Validator, check, check_text, version
from omen._errors import ArgumentError, InputError, OmenError, PacketError, Problem, UsageError

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

# The gate needs modules of the standard library that a program without one does not import.
_OF_THE_GATE = ("Gate", "GateError", "Refused", "ToolFailed")


def __getattr__(name: str) -> object:
    if name not in _OF_THE_GATE:
        raise AttributeError(f"module `omen` has no attribute `{name}`")
    from omen import gate

    return getattr(gate, name)
