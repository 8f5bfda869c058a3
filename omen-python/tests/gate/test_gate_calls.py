"""Calls that the gate permits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypedDict

import pytest
from gate.gate_world import World
from omen.gate import Answer, Gate, GateError, Tool


class Point(TypedDict):
    x: int
    y: float


def echo_tools(gate: Gate) -> list[Tool[..., Any]]:
    @gate.tool("echo", permissions=["READ"])
    def echo(value: Any) -> Any:
        """Returns its argument."""
        return value

    @gate.tool("wait")
    async def wait(seconds: float) -> str:
        """Waits."""
        await asyncio.sleep(seconds)
        return "done"

    return [echo, wait]


@pytest.mark.parametrize("value", ["text", "", 7, 1.5, True, None, [1, "a"], {"a": {"b": []}}, {"result": 1}])
def test_a_value_comes_back_as_the_function_returned_it(world: World, value: Any) -> None:
    gate = world.gate(echo_tools)
    assert gate.call("echo", {"value": value}).value == ("" if value is None else value) or value is None
    assert asyncio.run(gate.acall("echo", {"value": value})).data == gate.call("echo", {"value": value}).data
    assert world.outcomes() == ["yes"] * 3


def test_a_decorated_function_goes_through_the_gate(world: World) -> None:
    world.gate(echo_tools)
    gate = world.gates[0]
    tools = echo_tools(gate)
    assert tools[0]("a") == "a"
    assert asyncio.run(tools[1](seconds=0)) == "done"
    assert [entry["data"]["tool"]["tool"] for entry in world.entries("intent")] == ["echo", "wait"]


def test_arguments_may_be_the_text_of_a_model(world: World) -> None:
    gate = world.gate(echo_tools)
    assert gate.call("echo", ' {"value": [1, 2]} ').value == [1, 2]


def test_a_sync_tool_runs_in_the_thread_of_its_caller(world: World) -> None:
    threads: list[threading.Thread] = []

    def define(gate: Gate) -> list[Tool[..., Any]]:
        @gate.tool("here")
        def here() -> str:
            threads.append(threading.current_thread())
            return ""

        return [here]

    gate = world.gate(define)
    gate.call("here")
    asyncio.run(gate.acall("here"))
    assert threads[0] is threading.current_thread()
    assert threads[1] is not threading.current_thread()


def test_an_async_tool_needs_an_event_loop(world: World) -> None:
    gate = world.gate(echo_tools)
    with pytest.raises(GateError, match="await gate.acall"):
        gate.call("wait", {"seconds": 0})
    assert world.entries("decision") == []


def test_async_calls_run_side_by_side(world: World) -> None:
    async def main(gate: Gate) -> list[Answer]:
        return await asyncio.wait_for(asyncio.gather(*(gate.acall("wait", {"seconds": 0.2}) for _ in range(50))), 8)

    gate = world.gate(echo_tools)
    assert {answer.text for answer in asyncio.run(main(gate))} == {"done"}
    assert world.outcomes() == ["yes"] * 50


def test_a_schema_is_that_of_the_type_hints(world: World) -> None:
    forms: list[dict[str, Any]] = []

    def define(gate: Gate) -> list[Tool[..., Any]]:
        @gate.tool("plot")
        def plot(
            at: Point,
            colour: Annotated[Literal["red", "blue"], "Colour of the point."],
            labels: list[str] | None = None,
            *,
            sizes: dict[str, int] = {},
        ) -> None:
            """Plots a point."""

        forms.append(plot.form)
        return [plot]

    gate = world.gate(define)
    gate.call("plot", {"at": {"x": 1, "y": 2}, "colour": "red", "sizes": {"a": 1}})
    assert forms[0] == {
        "name": "plot",
        "description": "Plots a point.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "at": {
                    "type": "object",
                    "properties": {"x": {"type": "integer"}, "y": {"type": "number"}},
                    "required": ["x", "y"],
                    "additionalProperties": False,
                },
                "colour": {"enum": ["red", "blue"], "description": "Colour of the point."},
                "labels": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
                "sizes": {"type": "object", "additionalProperties": {"type": "integer"}},
            },
            "required": ["at", "colour"],
            "additionalProperties": False,
        },
    }


def test_what_has_no_schema_is_an_error_with_its_place(world: World) -> None:
    gate = world.gate(echo_tools)

    def untyped(a) -> None: ...  # type: ignore[no-untyped-def]

    def bytes_of(a: bytes) -> None: ...

    def many(*a: int) -> None: ...

    cases: list[tuple[Callable[..., None], str]] = [
        (untyped, "parameter `a` of `t` has no type"),
        (bytes_of, "has the type `<class 'bytes'>`"),
        (many, "cannot be passed by name"),
    ]
    for function, message in cases:
        with pytest.raises(GateError, match=message):
            gate.tool("t")(function)
    gate.tool("t", input_schema={"type": "object"})(bytes_of)


def test_permissions_of_the_program_must_be_in_the_configuration(world: World) -> None:
    gate = world.gate(echo_tools)
    with pytest.raises(GateError, match="`app/echo` needs `WRITE`"):
        gate.tool("echo", permissions=["WRITE"])(lambda: None)
    with pytest.raises(GateError, match="invalid permission"):
        gate.tool("echo", permissions=["WRIT"])(lambda: None)
    # A tool that the configuration does not allow is only refused when it is called.
    gate.tool("other", permissions=["WRITE"])(lambda: None)


def test_an_explicit_output_schema_is_checked(world: World) -> None:
    from omen.gate import Refused

    def define(gate: Gate) -> list[Tool[..., Any]]:
        @gate.tool(
            "count", output_schema={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
        )
        def count(n: Any) -> dict[str, Any]:
            return {"n": n}

        return [count]

    gate = world.gate(define)
    assert gate.call("count", {"n": 1}).value == {"n": 1}
    with pytest.raises(Refused) as refused:
        gate.call("count", {"n": "one"})
    assert (refused.value.code, refused.value.ran) == ("PG-4", "yes")
    assert "its answer is withheld" in refused.value.for_model()
