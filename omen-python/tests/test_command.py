"""``python -m omen`` runs the command, if it is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

MISSING = 'error: the command `omen` is not installed\n  help: pip install "omen-sdk[cli]"\n'


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}
    words = [sys.executable, "-m", "omen", *arguments]
    return subprocess.run(words, capture_output=True, text=True, env=environment, check=False)


def test_without_the_command(tmp_path: Path) -> None:
    ended = run(tmp_path, "--version")
    assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", MISSING)


def test_with_the_command(tmp_path: Path, program: Path, faulty: Path) -> None:
    """Finds the command where `cargo xtask dist` puts it in the distribution, and returns its exit code."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "omen").symlink_to(program)
    site = tmp_path / "lib" / "site-packages"
    info = site / "omen_cli-0.0.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.4\nName: omen-cli\nVersion: 0.0.0\n")
    (info / "RECORD").write_text("../../bin/omen,,\nomen_cli-0.0.0.dist-info/METADATA,,\n")
    ended = run(site, "check", "--no-config", str(faulty))
    expected = subprocess.run([program, "check", "--no-config", faulty], capture_output=True, text=True, env=dict(os.environ), check=False)
    assert (ended.returncode, ended.stdout) == (expected.returncode, expected.stdout) and ended.returncode != 0
