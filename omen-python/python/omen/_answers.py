"""Results of a call: an answer or a refusal, and questions to the confirmer."""

from __future__ import annotations

import json
from typing import Any, Literal

from omen._errors import OmenError

__all__ = ["Answer", "Question", "Refused", "ToolFailed"]

_WRAPPED = "omen/wrapped"


class Refused(OmenError):
    """A call that the gate refused, or whose answer it withholds. `omen explain` describes the rule in `code`."""

    reason: str
    """What is wrong."""
    ran: Literal["yes", "no", "unknown"]
    """Whether the tool ran."""
    evidence: dict[str, Any]
    """The decision as data: call, code, reason, help, turn, and the results of the order rules."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.evidence = data["decision"]
        self.reason, self.ran = self.evidence["reason"], self.evidence["ran"]
        self._data = data
        super().__init__(self.reason, code=self.evidence["code"], help=self.evidence["help"] or None)

    def for_model(self) -> str:
        """Returns a text for the model: the rule, the reason, whether the tool ran, and what to do."""
        return str(self._data["text"])

    def __reduce__(self) -> tuple[type[Refused], tuple[dict[str, Any]]]:
        return type(self), (self._data,)


class ToolFailed(Refused):
    """A call whose tool failed (R3). `__cause__` is the exception that the function raised."""


class Answer:
    """Answer of a tool, after the gate has checked and recorded it."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        """The answer in the form of the Model Context Protocol."""

    @property
    def structured(self) -> Any:
        """Structured content; `None` if there is none."""
        return self.data.get("structuredContent")

    @property
    def text(self) -> str:
        """Text content, line by line."""
        return "\n".join(part["text"] for part in self.data.get("content", []) if part.get("type") == "text")

    @property
    def value(self) -> Any:
        """The function's return value as JSON: the structured content, or the text if there is none."""
        if self.data.get("_meta", {}).get(_WRAPPED) is True:
            return self.structured["result"]
        return self.text if self.structured is None else self.structured

    def __repr__(self) -> str:
        return f"Answer({self.data!r})"

    @classmethod
    def of(cls, value: object) -> Answer:
        """Returns the answer for a function's return value, which must be JSON."""
        if isinstance(value, Answer):
            return value
        if isinstance(value, str):
            return cls({"content": [_text(value)]})
        if isinstance(value, dict):
            return cls({"content": [_text(json.dumps(value))], "structuredContent": value})
        content = [_text(json.dumps(value))]
        return cls({"content": content, "structuredContent": {"result": value}, "_meta": {_WRAPPED: True}})

    @classmethod
    def failed(cls, why: str) -> Answer:
        """Returns the answer of a tool that reports a failure."""
        return cls({"content": [_text(why)], "isError": True})


class Question:
    """Question to a confirmer: whether this call, with these arguments, may be made once."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.server: str = data["tool"]["server"]
        self.tool: str = data["tool"]["tool"]
        self.arguments: dict[str, Any] = json.loads(data["args"])
        """Arguments of the call. They may contain untrusted text; display it safely."""
        self.permissions: list[str] = data["permissions"]
        self.turn: str = data["turn"]
        self.hash: str = data["hash"]
        """Hash of tool and arguments; an answer is only valid for this call."""
        self.timeout: float = data["timeout_seconds"]
        """Time for the answer in seconds. No answer is a denial."""


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}
