"""Guardrails in an OpenAI Agents SDK agent, with a scripted model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

pytest.importorskip("agents")

from agents import Agent, FunctionTool, Model, ModelResponse, RunConfig, Runner, Usage, function_tool
from gate.gate_world import World
from omen.adapters.openai_agents import guarded
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText


class Script(Model):
    """Model that makes these calls, one after the other, and ends. It keeps what it reads."""

    def __init__(self, *calls: tuple[str, str]) -> None:
        self._calls = list(calls)
        self.read: list[Any] = []

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:
        self.read = [item["output"] for item in input if isinstance(item, dict) and "output" in item]
        output: list[Any]
        if self._calls:
            name, arguments = self._calls.pop(0)
            call_id = f"call_{len(self._calls)}"
            output = [ResponseFunctionToolCall(arguments=arguments, call_id=call_id, name=name, type="function_call")]
        else:
            text = ResponseOutputText(annotations=[], text="done", type="output_text")
            message = ResponseOutputMessage(
                id="m", content=[text], role="assistant", status="completed", type="message"
            )
            output = [message]
        return ModelResponse(output=output, usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


def tools_of(done: list[str]) -> list[FunctionTool]:
    @function_tool
    def read(path: str) -> str:
        """Reads a file."""
        done.append(f"read {path}")
        return f"content of {path}"

    @function_tool
    def write(path: str) -> str:
        """Writes a file."""
        done.append(f"write {path}")
        return "written"

    @function_tool(failure_error_function=None)
    async def hang() -> str:
        """Never returns."""
        done.append("hang")
        await asyncio.sleep(60)
        return ""

    return [read, write, hang]


def run(agent: Agent[Any]) -> Any:
    return Runner.run(agent, "write a", run_config=RunConfig(tracing_disabled=True))


def test_the_model_reads_why_a_call_was_refused(world: World) -> None:
    done: list[str] = []
    gate = world.gate(lambda gate: guarded(gate, tools_of(done)), allow=["read"])
    arguments = json.dumps({"path": "a"})
    model = Script(("read", arguments), ("write", arguments), ("read", '{"path": "a", "path": "b"}'))
    result = asyncio.run(run(Agent(name="ops", tools=[*guarded(gate, tools_of(done))], model=model)))
    assert result.final_output == "done"
    read, write, twice = model.read
    assert read == "content of a"
    assert write.startswith("Refused by the gate (PG-3): ") and "The tool was not called. What to do: " in write
    assert twice.startswith("Refused by the gate (PG-1): duplicate field `path`")
    assert done == ["read a"]
    assert world.outcomes() == ["yes"]


def test_a_cancelled_run_leaves_a_call_that_may_have_run(world: World) -> None:
    done: list[str] = []
    gate = world.gate(lambda gate: guarded(gate, tools_of(done)))
    agent: Agent[Any] = Agent(name="ops", tools=[*guarded(gate, tools_of(done))], model=Script(("hang", "{}")))

    async def main() -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(run(agent), 1)

    asyncio.run(main())
    assert done == ["hang"]
    assert world.outcomes() == ["unknown"]


def test_an_answer_that_comes_too_late_is_withheld(world: World) -> None:
    def slow(done: list[str]) -> list[FunctionTool]:
        @function_tool
        async def slow() -> str:
            """Returns too late."""
            done.append("slow")
            await asyncio.sleep(2)
            return "late"

        return [slow]

    done: list[str] = []
    gate = world.gate(lambda gate: guarded(gate, slow(done)), extra="[limits]\ncall_timeout_seconds = 1\n")
    model = Script(("slow", "{}"))
    asyncio.run(run(Agent(name="ops", tools=[*guarded(gate, slow(done))], model=model)))
    assert model.read[0].startswith("The call failed (R3): no answer within 1s. The tool may have run.")
    assert done == ["slow"]
    assert world.outcomes() == ["unknown"]
