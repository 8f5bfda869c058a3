"""Fixtures of the gate's tests, for the tests of its adapters."""

from gate.gate_world import world

__all__ = ["world"]
