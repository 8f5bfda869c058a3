"""Fixtures of the tests of the gate, for its adapters."""

from gate.gate_world import world

__all__ = ["world"]
