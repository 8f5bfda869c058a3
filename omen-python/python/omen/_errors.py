"""Exceptions of the package, with a common base class: what is wrong, where, and how to fix it."""

from __future__ import annotations

# Importing `typing` takes as long as importing the rest of the package.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class OmenError(Exception):
    """Error of this package. ``code`` is the rule, ``place`` a path or JSON pointer, ``help`` a way to fix it, each if known."""

    code: str | None
    place: str | None
    help: str | None

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        place: str | None = None,
        help: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.place = place
        self.help = help

    @property
    def message(self) -> str:
        """What is wrong, in one sentence."""
        return str(self.args[0])

    def __str__(self) -> str:
        head = self.message if self.code is None else f"{self.code}: {self.message}"
        where = "" if not self.place else f"\n  at {self.place}"
        remedy = "" if self.help is None else f"\n  help: {self.help}"
        return head + where + remedy

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restored, (type(self), self.args, self.__dict__))


class ArgumentError(OmenError, ValueError):
    """An argument is invalid by itself, such as a level for an unknown code."""


class GateError(OmenError):
    """A gate's configuration is invalid, or a program misuses a gate. No call was made."""


class InputError(OmenError):
    """An input cannot be read, or not to its end. Findings up to that point were reported."""


class UsageError(OmenError):
    """A call is not possible in the current state of an object, such as feeding a validator that was finished."""


class Problem:
    """One error of a packet: the rule in ``code``, the JSON pointer in ``place``, and how to fix it in ``help``."""

    __slots__ = ("code", "help", "message", "place")

    def __init__(self, message: str, *, code: str, place: str | None, help: str | None) -> None:
        self.message = message
        self.code = code
        self.place = place
        self.help = help

    def __str__(self) -> str:
        where = "" if not self.place else f"\n  at {self.place}"
        return f"{self.code}: {self.message}{where}"

    def __repr__(self) -> str:
        return f"Problem({self.message!r}, code={self.code!r}, place={self.place!r}, help={self.help!r})"


class PacketError(OmenError, ValueError):
    """A packet, or a part of one, does not match its schema. ``problems`` has all errors; the attributes are those of the first."""

    problems: tuple[Problem, ...]

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        first = problems[0]
        super().__init__(first.message, code=first.code, place=first.place, help=first.help)
        self.problems = problems

    def __str__(self) -> str:
        more = len(self.problems) - 1
        others = "".join(f"\n{problem}" for problem in self.problems[1:4])
        rest = f"\nand {more - 3} more" if more > 3 else ""
        return super().__str__() + others + rest


def _restored(error: type[OmenError], args: tuple[Any, ...], state: dict[str, Any]) -> OmenError:
    made = error.__new__(error, *args)
    made.args = args
    made.__dict__.update(state)
    return made
