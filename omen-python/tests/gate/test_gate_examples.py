"""Examples: agents with scripted models, which need no network. Their logs are sound."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from omen.gate import verify_log

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(name: str, folder: Path) -> tuple[list[str], list[dict[str, Any]]]:
    """Runs an example, and returns its lines and the entries of its log."""
    program = [sys.executable, str(EXAMPLES / name / "agent.py"), str(folder)]
    ended = subprocess.run(program, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    log = (folder / "audit.jsonl").read_text().splitlines()
    assert verify_log(folder / "audit.jsonl", folder / "audit.key") == len(log)
    return ended.stdout.splitlines(), [json.loads(line) for line in log]


def calls(entries: list[dict[str, Any]], kind: str) -> list[str]:
    return [entry["data"]["tool"]["tool"] for entry in entries if entry["kind"] == kind]


def test_the_pool_is_raised_once_it_was_read(tmp_path: Path) -> None:
    lines, entries = run("pool", tmp_path)
    assert "  Refused by the gate (O-1)" in lines[1].split(":")[0]
    assert "  Refused by the gate (PG-3)" in lines[5].split(":")[0]
    assert lines[-2] == "The pool is 80."
    assert json.loads((tmp_path / "settings.json").read_text()) == {"pool.orders.max": 80}
    assert calls(entries, "intent") == ["config.get", "config.set"]
    # A second run continues the log.
    lines, more = run("pool", tmp_path)
    assert lines[-2] == "The pool is 80." and len(more) > len(entries)


def test_nothing_is_deployed_before_its_tests_have_passed(tmp_path: Path) -> None:
    pytest.importorskip("langchain")
    lines, entries = run("deploy", tmp_path)
    assert [line for line in lines if line.startswith("deploy: ")][1] == "deploy: orders is deployed to staging"
    assert calls(entries, "intent") == ["run_tests", "deploy"]
    assert calls(entries, "confirmation") == ["deploy"]
