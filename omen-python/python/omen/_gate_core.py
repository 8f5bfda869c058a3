"""The gate of the extension module, typed by the stub beside this file."""

from omen._core import GateCore, PendingCall, new_key, verify_log

__all__ = ["GateCore", "PendingCall", "new_key", "verify_log"]
