"""Fixtures: logs of the repository, and the command whose verdicts are compared."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[2]
Command = Callable[[Sequence[str | Path]], list[dict[str, Any]]]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fails the run if a test was skipped although ``OMEN_REQUIRE`` names what it needs."""
    wanted = {name.strip() for name in os.environ.get("OMEN_REQUIRE", "").split(",")}
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or hasattr(session.config, "workerinput") or not {"all", "python-package"} & wanted:
        return
    skipped = reporter.stats.get("skipped", [])
    for report in skipped:
        why = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
        reporter.write_line(f"\nfailed because of OMEN_REQUIRE: {report.nodeid}: {why}")
    if skipped:
        reporter.write_line('help: run `eval "$(.ci/install python-package)"` in the root of the repository')
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def examples() -> list[Path]:
    """Logs of the examples, accepted and rejected."""
    found = sorted((REPOSITORY / "schema" / "examples").rglob("*.jsonl"))
    assert len(found) > 100
    return found


@pytest.fixture(scope="session")
def faulty() -> Path:
    """Log with one error."""
    return REPOSITORY / "schema" / "examples" / "invalid" / "e1-decision-before-belief.jsonl"


@pytest.fixture(scope="session")
def program() -> Path:
    """The command ``omen``, which ``cargo xtask python`` builds and names in ``OMEN_COMMAND``."""
    return Path(os.environ["OMEN_COMMAND"])


@pytest.fixture(scope="session")
def command(program: Path) -> Command:
    """Runs ``omen check --format json``, and returns the object on each line of its output."""

    def run(arguments: Sequence[str | Path]) -> list[dict[str, Any]]:
        words = [program, "check", "--no-config", "--quiet", "--format", "json", *arguments]
        ended = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
        return [json.loads(line) for line in ended.stdout.splitlines()]

    return run
