"""Base class of the enums of the protocol."""

from __future__ import annotations

from enum import Enum


class TextEnum(str, Enum):
    """Enum whose values are the texts in a packet; a value is equal to its text, and printed as it."""

    def __str__(self) -> str:
        return str(self.value)

    def __format__(self, spec: str) -> str:
        return format(str(self.value), spec)
