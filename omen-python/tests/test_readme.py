"""The code of the README runs, and prints what the README says."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

BLOCK = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL)
PACKAGE = Path(__file__).parents[1]
README = PACKAGE / "README.md"
EXAMPLES = [path.read_text() for path in (PACKAGE / "examples").glob("*.py")]


def is_excerpt(code: str) -> bool:
    """Returns whether the code is a part of an example, which another test runs."""
    return any(textwrap.indent(code, " " * 8) in example for example in EXAMPLES)


BLOCKS = [block for block in BLOCK.findall(README.read_text()) if not is_excerpt(block[0])]


@pytest.mark.parametrize(("code", "printed"), BLOCKS)
def test_readme(
    code: str, printed: str, faulty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "episode.jsonl").write_bytes(faulty.read_bytes())
    monkeypatch.chdir(tmp_path)
    exec(compile(code, str(README), "exec"), {"__name__": "readme"})
    shown = capsys.readouterr().out
    assert not printed or shown == printed
