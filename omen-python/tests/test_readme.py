"""The code of the README runs, and prints what the README says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

BLOCK = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL)
README = Path(__file__).parents[1] / "README.md"


@pytest.mark.parametrize(("code", "printed"), BLOCK.findall(README.read_text()))
def test_readme(
    code: str, printed: str, faulty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "episode.jsonl").write_bytes(faulty.read_bytes())
    monkeypatch.chdir(tmp_path)
    exec(compile(code, str(README), "exec"), {"__name__": "readme"})
    shown = capsys.readouterr().out
    assert not printed or shown == printed
