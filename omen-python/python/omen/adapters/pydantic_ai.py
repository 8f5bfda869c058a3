"""Toolset for Pydantic AI: the tools of another toolset run behind the gate.

agent = Agent(model, toolsets=[GateToolset(FunctionToolset([read, write]), gate)])
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic_ai import CallDeferred, ModelRetry, RunContext
from pydantic_ai.exceptions import ApprovalRequired
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.tools import AgentDepsT, ToolDefinition
from pydantic_ai.toolsets import ToolsetTool, WrapperToolset
from pydantic_core import to_json, to_jsonable_python

from omen.gate import Caller, Refused

__all__ = ["GateToolset"]


@dataclass
class GateToolset(WrapperToolset[AgentDepsT]):
    """Toolset that takes each tool call through the gate; `caller` is the gate, or one of its sessions or turns."""

    caller: Caller
    server: str | None = None

    async def get_tools(self, ctx: RunContext[AgentDepsT]) -> dict[str, ToolsetTool[AgentDepsT]]:
        """Returns the tools of the other toolset, and registers their forms with the gate."""
        tools = await super().get_tools(ctx)
        for tool in tools.values():
            self.caller.gate.register(form_of(tool.tool_def), _alone, server=self.server)
        return tools

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[AgentDepsT], tool: ToolsetTool[AgentDepsT]
    ) -> Any:
        """Calls the tool if the gate permits the call."""
        kept: list[Any] = []

        written = _written(ctx)

        async def run(arguments: dict[str, Any]) -> object:
            args = tool_args
            if written is not None:
                # The tool receives the arguments that the gate has judged.
                args = tool.args_validator.validate_json(to_json(arguments), context=ctx.validation_context)
            kept.append(await super(GateToolset, self).call_tool(name, args, ctx, tool))
            return to_jsonable_python(kept[0], fallback=str)

        try:
            text = to_json(tool_args).decode() if written is None else written
            await self.caller.aperform(name, text, run, server=self.server)
        except Refused as refused:
            # A tool uses these exceptions to communicate with the agent; they are not failures.
            if isinstance(refused.__cause__, (ModelRetry, CallDeferred, ApprovalRequired)):
                raise refused.__cause__ from None
            return refused.for_model()
        return kept[0]


def form_of(tool: ToolDefinition) -> dict[str, Any]:
    """Returns the form of a tool: its name, its description and its schema, as the model sees them."""
    form: dict[str, Any] = {"name": tool.name, "inputSchema": tool.parameters_json_schema}
    return form if tool.description is None else form | {"description": tool.description}


def _written(ctx: RunContext[AgentDepsT]) -> str | None:
    """Returns the arguments as the model wrote them; `tool_args` contains objects of the program instead."""
    for message in reversed(ctx.messages):
        for part in message.parts:
            if isinstance(part, ToolCallPart) and part.tool_call_id == ctx.tool_call_id:
                return part.args if isinstance(part.args, str) else to_json(part.args or {}).decode()
    return None


async def _alone(**_: object) -> None:
    raise RuntimeError("a tool of Pydantic AI runs only in an agent")
