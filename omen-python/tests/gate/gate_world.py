"""Folder with a configuration, an audit log and its key."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

from omen.gate import Gate, Tool

Define = Callable[[Gate], list[Tool[..., Any]]]


class World:
    """Folder of one gate, and what its log says."""

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
        self, define: Define, permissions: list[str] | None = None, extra: str = "", rules: str = "", grants: str = ""
    ) -> Gate:
        """Loads a gate that allows the tools that `define` registers, in two steps, as a developer does: their pins are those of
        the functions. `rules` are further lines of each entry of the allowlist, and `grants` of each grant."""
        permissions = permissions or ["READ"]
        base = f'[servers.app]\n{extra}\n[audit]\nlog = "audit.jsonl"\nkey_file = "audit.key"\n'
        self.config.write_text(base)
        with Gate.load(self.config) as gate:
            entries = [tool.config(permissions) for tool in define(gate)]
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
