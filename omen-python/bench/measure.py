"""Ratio of ``omen.check`` to the command on one log: ``python check.py COMMAND LOG``. The two alternate, so that other load affects both."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import omen

ROUNDS = 7


def timed(run: Callable[[], object]) -> float:
    """Returns the seconds that a run takes."""
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun


def main(command: str, log: str) -> None:
    """Measures, and prints one line."""
    words = [command, "check", "--no-config", "--format", "json", log]

    def in_command() -> None:
        subprocess.run(words, stdout=subprocess.DEVNULL, check=False)

    def in_package() -> None:
        for finding in omen.check(log):
            finding.to_json()

    rounds = [(timed(in_package), timed(in_command)) for _ in range(ROUNDS)]
    package, program = (statistics.median(column) for column in zip(*rounds, strict=True))
    ratio = statistics.median(one / other for one, other in rounds)
    size = os.path.getsize(log) / 1e6
    print(f"{size:.1f} MB: omen.check {package:.2f} s, the command {program:.2f} s, ratio {ratio:.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
