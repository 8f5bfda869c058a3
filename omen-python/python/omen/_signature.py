"""JSON Schemas of functions' arguments, derived from their type hints."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import typing_extensions

from omen._errors import GateError

_PLAIN = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


def input_schema(function: Callable[..., object], name: str) -> dict[str, Any]:
    """Returns the schema of the arguments of a function, which are passed by name."""
    try:
        hints = typing_extensions.get_type_hints(function, include_extras=True)
    except Exception as error:
        raise GateError(f"`{name}`: cannot read its type hints: {error}", help=_HELP) from error
    properties: dict[str, Any] = {}
    required: list[str] = []
    for parameter in inspect.signature(function).parameters.values():
        place = f"parameter `{parameter.name}` of `{name}`"
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise GateError(f"{place} cannot be passed by name", help="replace it by a parameter that can be passed by name")
        if parameter.name not in hints:
            raise GateError(f"{place} has no type", help=_HELP)
        properties[parameter.name] = _schema(hints[parameter.name], place)
        if parameter.default is parameter.empty:
            required.append(parameter.name)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _schema(hint: Any, place: str) -> dict[str, Any]:
    origin, args = typing_extensions.get_origin(hint), typing_extensions.get_args(hint)
    if hint is Any or hint is object:
        return {}
    if origin is typing_extensions.Annotated:
        described = [text for text in args[1:] if isinstance(text, str)]
        return _schema(args[0], place) | ({"description": described[0]} if described else {})
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if origin in (typing_extensions.Literal, typing.Literal):
        return {"enum": list(args)}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_schema(arg, place) for arg in args]}
    if origin in (list, Sequence):
        return {"type": "array", "items": _schema(args[0], place)}
    if origin in (dict, Mapping) and args[0] is str:
        return {"type": "object", "additionalProperties": _schema(args[1], place)}
    if typing_extensions.is_typeddict(hint):
        hints = typing_extensions.get_type_hints(hint, include_extras=True)
        members = {key: _schema(_required(value), place) for key, value in hints.items()}
        required = sorted(hint.__required_keys__)
        return {"type": "object", "properties": members, "required": required, "additionalProperties": False}
    raise GateError(f"{place} has the type `{hint}`, for which no JSON Schema can be derived", help=_HELP)


def _required(hint: Any) -> Any:
    wrappers = (typing_extensions.Required, typing_extensions.NotRequired)
    return typing_extensions.get_args(hint)[0] if typing_extensions.get_origin(hint) in wrappers else hint


_HELP = (
    "use `str`, `int`, `float`, `bool`, `None`, `Literal`, `list`, `dict[str, …]`, `TypedDict` or a union of them, "
    "or pass `input_schema=`"
)
