"""Folder with a configuration, an audit log and its key; the log is verified at the end of each test."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from omen.gate import Gate, verify_log

Define = Callable[[Gate], object]


class World:
    """Folder of one gate, and the content of its log."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.key = folder / "audit.key"
        self.log = folder / "audit.jsonl"
        self.config = folder / "gate.toml"
        self.gates: list[Gate] = []
        self.lost = 0
        self.key.write_text(secrets.token_hex(32))
        self.key.chmod(0o600)

    def gate(
        self,
        define: Define,
        permissions: list[str] | None = None,
        extra: str = "",
        rules: str = "",
        grants: str = "",
        allow: list[str] | None = None,
    ) -> Gate:
        """Loads a gate that allows the tools that `define` registers, with the pins of their functions.

        `rules` are additional lines for each entry of the allowlist, and `grants` for each grant. `allow` lists the
        names of the allowed tools; the default is all.
        """
        permissions = permissions or ["READ"]
        base = f'[servers.app]\n{extra}\n[audit]\nlog = "audit.jsonl"\nkey_file = "audit.key"\n'
        self.config.write_text(base)
        with Gate.load(self.config) as gate:
            define(gate)
            entries = [tool.config(permissions) for tool in gate.tools if allow is None or tool.name in allow]
        entries = [entry.replace("\n\n[[grants]]", f"\n{rules}\n\n[[grants]]") + grants for entry in entries]
        self.config.write_text(base + "\n".join(entries))
        return self.load(define)

    def load(self, define: Define) -> Gate:
        gate = Gate.load(self.config)
        self.gates.append(gate)
        define(gate)
        return gate

    def entries(self, kind: str | None = None) -> list[dict[str, Any]]:
        """Closes the gates, and returns the entries of the log."""
        for gate in self.gates:
            gate.close()
        found = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [entry for entry in found if kind in (None, entry["kind"])]

    def outcomes(self) -> list[str]:
        """Returns whether the tool ran, for each outcome in the log."""
        return [entry["data"]["ran"] for entry in self.entries("outcome")]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path)
    yield world
    entries = world.entries()
    assert verify_log(world.log, world.key) == len(entries)
    # Each outcome has an intent, and each intent has an outcome, unless its process was killed.
    intents = {entry["turn"] for entry in world.entries("intent")}
    outcomes = {entry["turn"] for entry in world.entries("outcome")}
    assert outcomes <= intents and len(intents - outcomes) == world.lost
