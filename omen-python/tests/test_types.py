"""Types of the modules themselves. Some have a stub, which hides them from checkers; here, both checkers read the modules."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from checkers import REQUIRED, by_line, report

PACKAGE = Path(__file__).parents[1] / "python/omen"
# A module with a type error, so that a checker that reads nothing does not pass.
MISTAKE = "from omen._values import Target\n\nTarget(1, 2, 3)\n"


@pytest.mark.parametrize("checker", REQUIRED)
def test_each_module_is_typed_as_it_runs(checker: str, tmp_path: Path) -> None:
    copy = tmp_path / "omen"
    # Without the adapters: they have no stubs, and pyright checks them with the tests. Here, both checkers would read the frameworks.
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("*.pyi", "*.so", "__pycache__", "adapters"))
    # The extension module has no source in Python.
    shutil.copy(PACKAGE / "_core.pyi", copy)
    (copy / "_core.py").touch()
    (tmp_path / "mistake.py").write_text(MISTAKE)
    text = report(checker, tmp_path)
    assert text is not None, f"{checker} is not installed"
    assert {file: list(lines) for file, lines in by_line(text).items()} == {"mistake.py": [3]}, text
