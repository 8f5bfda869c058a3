"""Toolset in a Pydantic AI agent, with its function model."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from gate.gate_world import World
from omen.adapters.pydantic_ai import GateToolset
from omen.gate import Gate
from pydantic import BaseModel
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.toolsets import FunctionToolset


class Place(BaseModel):
    path: str


def toolset_of(done: list[str]) -> FunctionToolset[None]:
    def read(place: Place) -> Place:
        """Reads a file."""
        done.append(f"read {place.path}")
        return place

    def write(path: str) -> str:
        """Writes a file."""
        done.append(f"write {path}")
        return "written"

    def retry() -> str:
        """Asks for another call."""
        done.append("retry")
        raise ModelRetry("call `read` first")

    return FunctionToolset([read, write, retry])


def run(gate: Gate, done: list[str], *calls: tuple[str, dict[str, Any] | str]) -> list[Any]:
    """Runs an agent whose model makes these calls, and returns what the model reads for each of them."""
    pending = list(calls)

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if not pending:
            return ModelResponse(parts=[TextPart("done")])
        name, arguments = pending.pop(0)
        return ModelResponse(parts=[ToolCallPart(name, arguments)])

    agent = Agent(FunctionModel(model), deps_type=type(None), toolsets=[GateToolset(toolset_of(done), gate)])
    messages = asyncio.run(agent.run("write a")).all_messages()
    parts: list[Any] = [part for message in messages for part in message.parts]
    return [part.content for part in parts if part.part_kind in ("tool-return", "retry-prompt")]


def test_the_model_reads_why_a_call_was_refused(world: World) -> None:
    done: list[str] = []
    # Running an agent without calls registers the forms of its tools with the gate.
    gate = world.gate(lambda gate: run(gate, done), allow=["read", "retry"])
    # If a model is a tool's only argument, Pydantic AI passes the model's fields as the arguments.
    read, write, retry = run(gate, done, ("read", {"path": "a"}), ("write", {"path": "a"}), ("retry", {}))
    assert read == Place(path="a")
    assert write.startswith("Refused by the gate (PG-3): ") and "The tool was not called. What to do: " in write
    assert retry == "call `read` first"
    assert done == ["read a", "retry"]
    assert world.outcomes() == ["yes", "yes"]


def test_a_rule_on_arguments_sees_what_the_model_wrote(world: World) -> None:
    done: list[str] = []
    gate = world.gate(lambda gate: run(gate, done), allow=["read"], rules='where = { "/path" = { in = ["a"] } }')
    _, refused = run(gate, done, ("read", {"path": "a"}), ("read", {"path": "b"}))
    assert "Refused by the gate (PG-3)" in refused and done == ["read a"]


def test_what_two_readers_read_differently_is_refused(world: World) -> None:
    done: list[str] = []
    gate = world.gate(lambda gate: run(gate, done), allow=["read"])
    [refused] = run(gate, done, ("read", '{"path": "a", "path": "b"}'))
    assert "duplicate field `path`" in refused and done == []
