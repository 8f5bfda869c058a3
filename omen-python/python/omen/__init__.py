"""The OMEN protocol for AI agents, on top of a Rust core."""

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

# Imported on first use: a program without a gate does not need the standard library modules that the gate imports.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from omen.gate import Gate, GateError, Refused, ToolFailed
else:

    def __getattr__(name: str) -> object:
        if name not in ("Gate", "GateError", "Refused", "ToolFailed"):
            raise AttributeError(f"module `omen` has no attribute `{name}`")
        from omen import gate

        return getattr(gate, name)
