"""Fixtures of the tests of the gate."""

from gate_world import world

__all__ = ["world"]
