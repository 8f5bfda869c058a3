"""Fixtures of the gate's tests."""

from gate.gate_world import world

__all__ = ["world"]
