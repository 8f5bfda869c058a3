"""Runs type checkers, and returns what they report by line."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

# Checkers that must report every mistake, and checkers that are run if they are installed.
REQUIRED = ("mypy", "pyright")
OPTIONAL = ("pyrefly", "ty")

STRICT = '{"typeCheckingMode": "strict", "reportUnusedClass": false, "pythonVersion": "3.10", "include": ["."]}'


def command(checker: str, folder: Path) -> list[str] | None:
    """Returns the command line of a checker, or `None` if it is not installed."""
    found = shutil.which(checker, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if found is None:
        return None
    python = ["--python-version", "3.10"]
    arguments = {
        "mypy": ["--strict", "--no-pretty", "--no-error-summary", f"--cache-dir={folder / '.mypy'}", *python,
                 f"--python-executable={sys.executable}", "."],
        "pyright": ["-p", str(folder / "pyrightconfig.json"), "--pythonpath", sys.executable],
        "pyrefly": ["check", "--output-format", "min-text", *python, "--python-interpreter-path", sys.executable],
        "ty": ["check", "--output-format", "concise", *python, "--python", sys.prefix, "."],
    }
    return [found, *arguments[checker]]


def report(checker: str, folder: Path) -> str | None:
    """Returns what a checker prints about the files of a folder, or `None` if it is not installed."""
    (folder / "pyrightconfig.json").write_text(STRICT)
    # Without a configuration, pyrefly checks hardly anything.
    (folder / "pyrefly.toml").touch()
    arguments = command(checker, folder)
    if arguments is None:
        print(f"{checker} is not installed: its cells are not checked")
        return None
    done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True)
    assert done.returncode in (0, 1), f"{checker} failed: {done.stdout}{done.stderr}"
    return done.stdout.replace(f"{folder}/", "")


def by_line(text: str) -> dict[str, dict[int, str]]:
    """Returns the findings of a report, by file and line; the lines that continue a finding belong to it."""
    found: dict[str, dict[int, str]] = {}
    last: tuple[str, int] | None = None
    for line in text.splitlines():
        match = re.match(r"\s*(?:ERROR |WARN\s+)?([\w./]+\.py):(\d+):(?:[\d:-]+ ?)?\s*(?:- )?(.*)", line)
        if match and match[3].startswith("note:"):
            continue
        if match:
            last = (match[1], int(match[2]))
            found.setdefault(last[0], {})
            found[last[0]][last[1]] = f"{found[last[0]].get(last[1], '')} {match[3]}".strip()
        elif last is not None and line[:1].isspace() and line.strip():
            found[last[0]][last[1]] += f" {line.strip()}"
    return found
