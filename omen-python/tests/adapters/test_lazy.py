"""The package itself imports no framework, and nothing slow."""

from __future__ import annotations

import subprocess
import sys


def test_no_framework_is_imported_by_the_package() -> None:
    program = """
import sys
import omen, omen.adapters
slow = {"asyncio", "langchain", "agents", "pydantic_ai", "pydantic", "mcp", "claude_agent_sdk", "inspect"}
print(sorted(slow & set(sys.modules)))
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"
