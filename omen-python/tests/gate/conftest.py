"""The log of each test is verified at its end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from gate_world import World
from omen.gate import verify_log


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path)
    yield world
    entries = world.entries()
    assert verify_log(world.log, world.key) == len(entries)
    # Each outcome has an intent, and each intent an outcome, unless its process was killed.
    intents = {entry["turn"] for entry in world.entries("intent")}
    outcomes = {entry["turn"] for entry in world.entries("outcome")}
    assert outcomes <= intents and len(intents - outcomes) == world.lost
