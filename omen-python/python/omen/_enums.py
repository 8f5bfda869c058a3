"""Base class of the protocol's enums."""

from __future__ import annotations

from enum import Enum


class TextEnum(str, Enum):
    """Enum whose values are texts of a packet. A value is equal to its text, and printed as that text."""

    def __str__(self) -> str:
        return str(self.value)

    def __format__(self, spec: str) -> str:
        return format(str(self.value), spec)
