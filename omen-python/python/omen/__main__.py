"""``python -m omen``: runs the command ``omen`` of the distribution ``omen-cli``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn


def command() -> Path | None:
    """Returns the path of the command; ``None`` if its distribution is not installed."""
    from importlib.metadata import PackageNotFoundError, files

    try:
        installed = files("omen-cli") or []
    except PackageNotFoundError:
        return None
    found = (Path(file.locate()).resolve() for file in installed if file.stem == "omen" and file.parent.name in ("bin", "Scripts"))
    return next((path for path in found if os.access(path, os.X_OK)), None)


def main() -> NoReturn:
    """Runs the command, and exits with its exit code. If there is no command, exits with 2, as for a usage error."""
    program = command()
    if program is None:
        sys.exit(_missing())
    arguments = [str(program), *sys.argv[1:]]
    if os.name == "posix":
        sys.stdout.flush()
        sys.stderr.flush()
        os.execv(program, arguments)
    import subprocess

    sys.exit(subprocess.run(arguments, check=False).returncode)


def _missing() -> int:
    sys.stderr.write("error: the command `omen` is not installed\n  help: pip install \"omen-sdk[cli]\"\n")
    return 2


if __name__ == "__main__":
    main()
