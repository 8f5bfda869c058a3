"""The OMEN protocol for AI agents, on a core in Rust."""

from omen._core import version

__all__ = ["version"]
__version__ = version()
