"""Type checkers accept the tools, adapters and examples, and report wrong calls of a tool."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"

PROGRAM = """
from omen.gate import Gate, Question

gate = Gate.load("gate.toml")

@gate.tool("config.get", permissions=["READ"])
def get(key: str) -> int:
    return len(key)

@gate.tool("config.set")
async def put(key: str, value: int) -> None: ...

@gate.confirmer
async def confirm(question: Question) -> bool:
    return question.tool == "config.set"

async def legal() -> int:
    await put("a", value=1)
    return get("a")
"""

MISTAKES = [
    "get(1)",
    "get()",
    "get('a', 'b')",
    "text: str = get('a')",
    "put('a', '1')",
    "put('a', 1).value",
    "gate.confirmer(lambda question: question.tools)",
    "gate.call(1)",
    "gate.tool('x', permissions=1)",
]


def mypy(*args: str) -> subprocess.CompletedProcess[str]:
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def write(folder: Path, mistakes: list[str]) -> tuple[Path, set[int]]:
    """Writes a program, and returns it with the lines of its mistakes."""
    lines = PROGRAM.splitlines()
    numbers = set(range(len(lines) + 1, len(lines) + len(mistakes) + 1))
    program = folder / "program.py"
    program.write_text("\n".join([*lines, *mistakes]) + "\n")
    return program, numbers


def test_mypy_accepts_the_legal_program_and_reports_each_mistake(tmp_path: Path) -> None:
    program, _ = write(tmp_path, [])
    legal = mypy(str(program))
    assert (legal.stdout, legal.returncode) == ("", 0)
    program, numbers = write(tmp_path, MISTAKES)
    found = {int(line.split(":")[1]) for line in mypy(str(program)).stdout.splitlines() if ": error: " in line}
    assert found == numbers


def test_pyright_accepts_the_legal_program_and_reports_each_mistake(tmp_path: Path) -> None:
    pyright = shutil.which("pyright")
    if pyright is None:
        pytest.skip("pyright is not installed")
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')

    def found(mistakes: list[str]) -> tuple[set[int], set[int]]:
        program, numbers = write(tmp_path, mistakes)
        command = [pyright, "--outputjson", "--pythonpath", sys.executable, "-p", str(tmp_path)]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=300)
        report = json.loads(ended.stdout)
        assert report["summary"]["filesAnalyzed"] == 1, program
        errors = [found for found in report["generalDiagnostics"] if found["severity"] == "error"]
        return {found["range"]["start"]["line"] + 1 for found in errors}, numbers

    assert found([]) == (set(), set())
    lines, numbers = found(MISTAKES)
    assert lines == numbers


@pytest.mark.parametrize("name", ["pool", "deploy"])
def test_the_examples_are_typed(name: str) -> None:
    if name == "deploy":
        pytest.importorskip("langchain")
    checked = mypy(str(EXAMPLES / name / "agent.py"))
    assert (checked.stdout, checked.returncode) == ("", 0)
