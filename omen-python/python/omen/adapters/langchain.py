"""Middleware for LangChain 1.x: the tools of an agent run behind the gate.

agent = create_agent(model, tools, middleware=[GateMiddleware(gate)])
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command

from omen.gate import Answer, Caller, Gate, Refused, Tool, ToolFailed

__all__ = ["GateMiddleware"]

Result = ToolMessage | Command[Any]


class GateMiddleware(AgentMiddleware):
    """Middleware that takes each tool call through the gate; `caller` is the gate, or one of its sessions or turns."""

    def __init__(self, caller: Caller, *, server: str | None = None) -> None:
        super().__init__()
        self._caller, self._server = caller, server

    def register(self, tools: Sequence[BaseTool]) -> list[Tool[..., Any]]:
        """Registers tools before the first call, and returns them; they have their pins and configuration entries."""
        gate: Gate = self._caller.gate
        return [gate.register(form_of(tool), _invoke(tool), server=self._server) for tool in tools]

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]) -> Result:
        """Calls the tool if the gate permits the call."""
        kept: list[Result] = []

        def run(arguments: dict[str, Any]) -> Answer:
            kept.append(handler(_with(request, arguments)))
            return _answer_of(kept[0])

        try:
            self._caller.perform(*self._call(request), run, server=self._server)
        except Refused as refused:
            return _refused(request, refused, kept)
        return kept[0]

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]
    ) -> Result:
        """Calls the tool if the gate permits the call."""
        kept: list[Result] = []

        async def run(arguments: dict[str, Any]) -> Answer:
            kept.append(await handler(_with(request, arguments)))
            return _answer_of(kept[0])

        try:
            await self._caller.aperform(*self._call(request), run, server=self._server)
        except Refused as refused:
            return _refused(request, refused, kept)
        return kept[0]

    def _call(self, request: ToolCallRequest) -> tuple[str, str]:
        # So that the gate compares the tool's current form with the one that the operator approved.
        if request.tool is not None:
            self.register([request.tool])
        return request.tool_call["name"], json.dumps(request.tool_call["args"])


def form_of(tool: BaseTool) -> dict[str, Any]:
    """Returns the form of a tool: its name, its description and its schema, as the model sees them."""
    function = convert_to_openai_tool(tool)["function"]
    return {"name": tool.name, "description": function["description"], "inputSchema": function["parameters"]}


def _invoke(tool: BaseTool) -> Callable[..., Any]:
    def run(**arguments: Any) -> Any:
        return tool.invoke(arguments)

    return run


def _with(request: ToolCallRequest, arguments: dict[str, Any]) -> ToolCallRequest:
    return request.override(tool_call={**request.tool_call, "args": arguments})


def _answer_of(result: Result) -> Answer:
    if not isinstance(result, ToolMessage):
        return Answer.of("the tool updates the state of the agent")
    return Answer.failed(result.text) if result.status == "error" else Answer.of(result.text)


def _refused(request: ToolCallRequest, refused: Refused, kept: list[Result]) -> Result:
    # Interrupts of the graph are exceptions.
    if isinstance(refused.__cause__, GraphBubbleUp):
        raise refused.__cause__
    # The model receives the tool's own report of a failure. Any other answer is withheld.
    if isinstance(refused, ToolFailed) and kept and isinstance(kept[0], ToolMessage) and kept[0].status == "error":
        return kept[0]
    call = request.tool_call
    return ToolMessage(refused.for_model(), tool_call_id=call["id"], name=call["name"], status="error")
