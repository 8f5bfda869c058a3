"""The gate's code in `docs/python.md` runs as shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from gate.gate_world import World

PAGE = Path(__file__).parents[3] / "docs" / "python.md"


def test_the_code_of_the_page_runs(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = PAGE.read_text().split("## Tools behind the gate", 1)[1]
    blocks = re.findall(r"```(toml|python)\n(.*?)```", text, re.DOTALL)
    [config] = [code for language, code in blocks if language == "toml"]
    programs = [code for language, code in blocks if language == "python"]
    assert len(programs) >= 3
    monkeypatch.chdir(world.folder)
    world.config.write_text(config)
    names: dict[str, object] = {}
    exec(compile("\n".join(programs), str(PAGE), "exec"), names)
    gate = names["gate"]
    gate.close()  # type: ignore[attr-defined]
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["50", "50"]
    assert lines[2].startswith("Refused by the gate (PG-1): duplicate field `key`")
    assert world.outcomes() == ["yes"] * 3
