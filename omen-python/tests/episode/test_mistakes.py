"""Messages of mypy and pyright about mistakes, word for word: in `mistakes.json` and on a page of the docs.

`OMEN_BLESS=1 pytest` writes both. The checkers have the versions pinned in `CHECKERS`, because other versions may have
other messages.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

from episode_world import ROOT
from checkers import REQUIRED, by_line, command, report

HERE = Path(__file__).parent
PAGE = ROOT / "docs/python-errors.md"
CHECKERS = {"mypy": "2.4.1", "pyright": "1.1.414"}


def mistakes() -> list[tuple[str, str, str, int]]:
    """Returns the mistakes: code, title, program, and the number of the line with the mistake."""
    text = (HERE / "mistakes.py").read_text()
    found = []
    for match in re.finditer(r"^# (\S+): (.+)\n((?:(?:async )?def .+\n)(?:    .+\n?)+)", text, re.M):
        last = text[: match.end()].rstrip().count("\n") + 1
        found.append((match[1], match[2], match[3].rstrip(), last))
    return found


def answers(checker: str, folder: Path) -> dict[int, str]:
    """Returns the messages of a checker about the mistakes, by line."""
    installed = command(checker, folder)
    assert installed, f"{checker} is not installed: `pip install {checker}=={CHECKERS[checker]}`"
    version = subprocess.run([installed[0], "--version"], capture_output=True, text=True).stdout
    assert CHECKERS[checker] in version, f"expected {checker} {CHECKERS[checker]}, found {version}"
    (folder / "mistakes.py").write_text((HERE / "mistakes.py").read_text())
    text = report(checker, folder)
    assert text is not None
    # Strict mode also reports that the type of a wrong value is unknown, which is not about the mistake.
    lines = by_line(re.sub(r".*\((?:reportUnknown\w+|reportUnused\w+)\)\n(?:\s{4,}.*\n)*", "", text))
    return {line: re.sub(r"^error: |(?<= )error: ", "", found) for line, found in lines["mistakes.py"].items()}


def test_each_mistake_is_reported_word_for_word_as_before(tmp_path: Path) -> None:
    said = {checker: answers(checker, tmp_path) for checker in REQUIRED}
    shown = []
    for code, title, program, line in mistakes():
        for checker in REQUIRED:
            assert line in said[checker], f"{checker} does not report {title}"
            found = said[checker][line].replace("_", "-")
            assert code == "-" or re.search(rf"\b{code}\[.*fix: ", found), f"{checker}: {title}: {found}"
        shown.append({"code": code, "title": title, "program": program} | {name: said[name][line] for name in REQUIRED})
    expected = {line for *_, line in mistakes()}
    for checker in REQUIRED:
        assert set(said[checker]) == expected, f"{checker} reports other lines"
    assert len(shown) >= 60
    text = json.dumps(shown, indent=1, ensure_ascii=False) + "\n"
    if os.environ.get("OMEN_BLESS"):
        (HERE / "mistakes.json").write_text(text)
        PAGE.write_text(page(shown))
    assert (HERE / "mistakes.json").read_text() == text, "the messages have changed: run with OMEN_BLESS=1, and read the diff"
    assert PAGE.read_text() == page(shown), f"{PAGE.name} is out of date: run with OMEN_BLESS=1"


def page(shown: list[dict[str, str]]) -> str:
    """Returns the page of the docs."""
    own = sum(mistake["code"] == "-" for mistake in shown)
    out = [
        "# Type errors in Python\n",
        "<!-- Written by omen-python/tests/episode/test_mistakes.py with OMEN_BLESS=1. -->\n",
        f"What mypy {CHECKERS['mypy']} `--strict` and pyright {CHECKERS['pyright']} say about {len(shown)} mistakes. For {len(shown) - own} of "
        f"them, the message has the code of the rule and the fix; the other {own} are ordinary type errors, in the checker's own words. Both "
        "checkers report every mistake. [Compile errors](compile-errors.md) shows the same rules in Rust.\n",
        "Checkers do not detect a value that is used twice: the program raises `StateUsed`, with the place of the first use. Without a "
        "configuration, pyrefly checks little; an empty `[tool.pyrefly]` in `pyproject.toml` is enough.\n",
        "| Mistake | Code | Call |\n|---|---|---|",
    ]
    for mistake in shown:
        call = mistake["program"].splitlines()[-1].strip().replace("|", "\\|")
        out.append(f"| {mistake['title']} | {mistake['code']} | `{call}` |")
    out.append("\nFor example:")
    for code in ("E1", "INV-003", "INV-007"):
        mistake = next(mistake for mistake in shown if mistake["code"] == code)
        out.append(f"\n## {code}: {mistake['title']}\n\n```python\n{mistake['program']}\n```\n\n```text")
        out += [f"{name}: {mistake[name]}" for name in REQUIRED] + ["```"]
    return "\n".join(out) + "\n"
