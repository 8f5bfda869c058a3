"""The extension module refuses to be imported in another interpreter of the same process."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import omen

AGAIN = '''
try:
    import omen
except ImportError as error:
    print(type(error).__name__, error, flush=True)
else:
    print("imported", flush=True)
'''

try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
other = interpreters.create()
interpreters.run_string(other, AGAIN)
interpreters.destroy(other)
print(omen.version())
"""


def test_a_second_interpreter_cannot_import_the_package_and_the_first_goes_on() -> None:
    # These modules of the standard library emit a warning that they are experimental.
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    refused, version = done.stdout.splitlines()
    assert refused.startswith("ImportError") and "subinterpreters" in refused
    assert version.count(".") == 2
