"""Fixtures of the tests of the gate, for its adapters."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "gate"))

from gate_world import world  # noqa: E402

__all__ = ["world"]
