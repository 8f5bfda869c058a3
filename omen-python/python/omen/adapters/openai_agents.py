"""Tool guardrails for the OpenAI Agents SDK.

    agent = Agent(name="ops", tools=guarded(gate, [read, write]))

The SDK runs the tool between two guardrails: the first takes the call through the gate, the second records the
outcome. Before the second, the SDK turns an exception of a tool into an output, so that the log has an answer, unless
the tool has `failure_error_function=None`. If a run ends in between, the log records that the tool may have run.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agents import (
    FunctionTool,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrail,
    ToolInputGuardrailData,
    ToolOutputGuardrail,
    ToolOutputGuardrailData,
)

from omen.gate import Caller, OpenCall, Refused

__all__ = ["GateGuardrail", "guarded"]


class GateGuardrail:
    """Pair of guardrails that takes a tool's calls through the gate."""

    def __init__(self, caller: Caller, *, server: str | None = None) -> None:
        self._caller, self._server = caller, server
        self._open: dict[str, OpenCall] = {}
        self.input: ToolInputGuardrail[Any] = ToolInputGuardrail(self._before, "omen gate")
        self.output: ToolOutputGuardrail[Any] = ToolOutputGuardrail(self._after, "omen gate")

    async def _before(self, data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        context = data.context
        # With `pre_approval_tool_input_guardrails`, the SDK runs this guardrail twice.
        if (call := self._open.get(context.tool_call_id)) is not None and not call.done():
            return ToolGuardrailFunctionOutput.allow()
        try:
            call = await self._caller.abegin(context.tool_name, context.tool_arguments, server=self._server)
        except Refused as refused:
            return ToolGuardrailFunctionOutput.reject_content(refused.for_model(), refused.evidence)
        self._open[context.tool_call_id] = call
        return ToolGuardrailFunctionOutput.allow()

    async def _after(self, data: ToolOutputGuardrailData) -> ToolGuardrailFunctionOutput:
        call = self._open.pop(data.context.tool_call_id, None)
        if call is None:
            return ToolGuardrailFunctionOutput.reject_content(
                "The call did not go through the gate; its answer is withheld."
            )
        try:
            await call.succeed(_json_of(data.output))
        except Refused as refused:
            return ToolGuardrailFunctionOutput.reject_content(refused.for_model(), refused.evidence)
        return ToolGuardrailFunctionOutput.allow()


def guarded(caller: Caller, tools: Sequence[FunctionTool], *, server: str | None = None) -> list[FunctionTool]:
    """Returns the tools with the guardrails of the gate, and registers their forms."""

    async def alone(**_: object) -> None:
        raise RuntimeError("a tool of the OpenAI Agents SDK runs only in an agent")

    found: list[FunctionTool] = []
    for tool in tools:
        form = {"name": tool.name, "description": tool.description, "inputSchema": tool.params_json_schema}
        caller.gate.register(form, alone, server=server)
        guardrail = GateGuardrail(caller, server=server)
        # After the other input guardrails, which may reject the call, and before the other output guardrails, which may hide the output.
        before, after = tool.tool_input_guardrails or [], tool.tool_output_guardrails or []
        found.append(
            replace(
                tool,
                tool_input_guardrails=[*before, guardrail.input],
                tool_output_guardrails=[guardrail.output, *after],
            )
        )
    return found


def _json_of(output: object) -> object:
    try:
        return json.loads(json.dumps(output))
    except (TypeError, ValueError):
        return str(output)
