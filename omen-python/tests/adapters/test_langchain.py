"""Middleware in a LangChain agent, with LangChain's fake model."""

# LangChain does not annotate all of its types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("langchain")

from gate.gate_world import World
from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from omen.adapters.langchain import GateMiddleware
from omen.gate import Gate, Refused


class Model(GenericFakeChatModel):
    """Fake model that accepts any tools."""

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self


def script(*calls: tuple[str, dict[str, Any]]) -> Model:
    """Returns a model that makes these calls, one after the other, and ends."""
    messages = [
        AIMessage("", tool_calls=[{"name": name, "args": args, "id": f"call_{number}", "type": "tool_call"}])
        for number, (name, args) in enumerate(calls)
    ]
    return Model(messages=iter([*messages, AIMessage("done")]))


def tools_of(done: list[str]) -> list[BaseTool]:
    @tool
    def read(path: str) -> str:
        """Reads a file."""
        done.append(f"read {path}")
        return f"content of {path}"

    @tool
    def write(path: str) -> str:
        """Writes a file."""
        done.append(f"write {path}")
        return "written"

    @tool
    def fail() -> str:
        """Fails."""
        done.append("fail")
        raise OSError("disk")

    return [read, write, fail]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_model_reads_why_a_call_was_refused(world: World, asynchronous: bool) -> None:
    done: list[str] = []
    tools = tools_of(done)
    gate = world.gate(lambda gate: GateMiddleware(gate).register(tools), allow=["read", "fail"])
    model = script(("read", {"path": "a"}), ("write", {"path": "a"}), ("read", {"way": "a"}), ("fail", {}))
    agent = create_agent(model, tools, middleware=[GateMiddleware(gate)])
    question: Any = {"messages": [("user", "write a")]}
    state = asyncio.run(agent.ainvoke(question)) if asynchronous else agent.invoke(question)
    read, write, wrong, failed = (message for message in state["messages"] if isinstance(message, ToolMessage))
    assert (read.content, read.status) == ("content of a", "success")
    assert write.text.startswith("Refused by the gate (PG-3): ") and write.status == "error"
    assert wrong.text.startswith("Refused by the gate (PG-2): ") and "What to do: " in wrong.text
    assert "OSError: disk" in failed.text
    assert done == ["read a", "fail"]
    assert world.outcomes() == ["yes", "yes"]


def test_a_turn_of_the_user_is_screened(world: World) -> None:
    done: list[str] = []
    tools = tools_of(done)

    def define(gate: Gate) -> object:
        return GateMiddleware(gate).register(tools)

    pattern = "[[policy.patterns]]\npattern = 'secret'\nreason = 'secrets are not read'\n"
    gate = world.gate(define, extra=pattern)
    with gate.turn("read the secret file") as turn:
        agent = create_agent(script(("read", {"path": "a"})), tools, middleware=[GateMiddleware(turn)])
        question: Any = {"messages": [("user", "read the secret file")]}
        state = agent.invoke(question)
    assert "PG-0" in state["messages"][2].text
    assert done == []


def test_a_registered_tool_can_be_called_without_an_agent(world: World) -> None:
    done: list[str] = []
    tools = tools_of(done)
    gate = world.gate(lambda gate: GateMiddleware(gate).register(tools), allow=["read"])
    assert gate.call("read", {"path": "a"}).value == "content of a"
    with pytest.raises(Refused, match="PG-3"):
        gate.call("write", {"path": "a"})
    assert done == ["read a"]
