"""Verdicts are equal to those of the command, member for member."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path
from typing import Any

import omen
import pytest
from conftest import Command

MUTATED = 500


def verdicts(path: Path) -> tuple[list[dict[str, Any]], omen.Summary]:
    findings = omen.check(path)
    return [finding.to_dict() for finding in findings], findings.summary()


def test_examples(examples: list[Path], command: Command) -> None:
    for path in examples:
        *expected, last = command([path])
        found, summary = verdicts(path)
        assert found == expected, path
        assert {"files": 1, **summary.to_dict()} == last["summary"], path


def test_text_for_people(examples: list[Path], program: Path) -> None:
    """A finding is rendered as the command prints it."""
    for path in examples[::8]:
        words = [str(program), "check", "--no-config", "--all", str(path)]
        # With a fixed width: the command would use that of the terminal.
        environment = {**os.environ, "COLUMNS": "100"}
        printed = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False, env=environment).stdout
        for finding in omen.check(path):
            assert finding.render(width=100) in printed, path
            assert str(finding) == finding.render() and "\x1b[" in finding.render(color=True)


def mutated(generator: random.Random, logs: list[bytes]) -> bytes:
    """Returns a log with some of its bytes, lines or members changed."""
    log = bytearray(generator.choice(logs))
    for _ in range(generator.randint(1, 4)):
        lines = log.splitlines(keepends=True) or [bytearray(b"\n")]
        at = generator.randrange(len(lines))
        match generator.randrange(8):
            case 0:
                place = generator.randrange(len(log) + 1)
                log[place : place + generator.randint(0, 3)] = bytes(generator.randrange(256) for _ in range(2))
            case 1:
                del lines[at]
                log = bytearray(b"".join(lines))
            case 2:
                lines.insert(generator.randrange(len(lines) + 1), lines[at])
                log = bytearray(b"".join(lines))
            case 3:
                generator.shuffle(lines)
                log = bytearray(b"".join(lines))
            case 4:
                del log[generator.randrange(len(log) + 1) :]
            case 5:
                lines[at : at + 1] = bytearray(generator.choice(logs)).splitlines(keepends=True)
                log = bytearray(b"".join(lines))
            case 6:
                log = log.replace(generator.choice([b'"READ"', b"corr_", b"true", b"HIGH", b":0"]), b'"WRITE"', 1)
            case _:
                log = bytearray(b"[" + b",".join(line.strip() for line in lines if line.strip()) + b"\n]")
    return bytes(log)


@pytest.mark.parametrize("seed", range(4))
def test_mutated_logs(seed: int, examples: list[Path], command: Command, tmp_path: Path) -> None:
    """The logs have layouts, encodings and truncations that the command must also handle."""
    generator = random.Random(seed)
    logs = [path.read_bytes() for path in examples]
    paths = [tmp_path / f"{number:04}.jsonl" for number in range(MUTATED)]
    for path in paths:
        path.write_bytes(mutated(generator, logs))
    expected: dict[str, list[dict[str, Any]]] = {}
    for finding in command([tmp_path, "--jobs", "1"])[:-1]:
        expected.setdefault(finding["file"], []).append(finding)
    assert len(expected) > MUTATED // 2
    for number, path in enumerate(paths):
        found = [finding.to_dict() for finding in omen.check(path, jobs=1 + number % 2)]
        assert found == expected.get(str(path), []), path.read_bytes()


def test_levels(faulty: Path, examples: list[Path], command: Command) -> None:
    """Levels apply in the order of the dictionary, as on the command line."""
    log = next(path for path in examples if path.name == "warning-inv-011-late-result.jsonl")
    cases: list[tuple[dict[str, Any], list[str]]] = [
        ({"INV-011": "deny"}, ["-D", "INV-011"]),
        ({"warnings": "deny", "INV-011": "warn"}, ["-D", "warnings", "-W", "INV-011"]),
        ({"INV-011": "warn", "warnings": "deny"}, ["-W", "INV-011", "-D", "warnings"]),
        ({"INV-011": "allow"}, ["-A", "INV-011"]),
    ]
    for levels, options in cases:
        *expected, _ = command([*options, log])
        assert [finding.to_dict() for finding in omen.check(log, levels=levels)] == expected
