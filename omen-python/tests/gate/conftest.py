"""Fixtures of the tests of the gate."""

from gate.gate_world import world

__all__ = ["world"]
