"""The examples run, their logs have no findings, and checkers accept them and the tests."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from episode_world import ROOT, findings
from checkers import REQUIRED, by_line, report

EXAMPLES = sorted((ROOT / "omen-python/examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_an_example_is_judged_clean(example: Path) -> None:
    done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, check=True)
    summary = findings(done.stdout.splitlines())[-1]["summary"]
    assert (summary["errors"], summary["warnings"]) == (0, 0)
    assert summary["packets"] >= 4


def test_the_readme_shows_a_part_of_an_example() -> None:
    readme = (ROOT / "omen-python/README.md").read_text()
    example = textwrap.dedent("".join(path.read_text() for path in EXAMPLES))
    (shown,) = re.findall(r"## A first agent\n.*?```python\n(.*?)```", readme, re.S)
    assert textwrap.indent(shown, " " * 8) in example


@pytest.mark.parametrize("checker", REQUIRED)
def test_checkers_accept_the_examples(checker: str, tmp_path: Path) -> None:
    for example in EXAMPLES:
        (tmp_path / example.name).write_text(example.read_text())
    text = report(checker, tmp_path)
    assert text is not None, f"{checker} is not installed"
    assert by_line(text) == {}
