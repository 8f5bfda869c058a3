"""Hooks for the Claude Agent SDK: Claude Code asks the gate before it runs a tool, and reports the outcome.

    options = ClaudeAgentOptions(hooks=gate_hooks(gate, server="claude"))

The hooks receive the name and arguments of a call, but not the tool's description or schema: register the tools that
may be called, with the schemas of their arguments: `gate.register({"name": "Bash", "inputSchema": …}, …)`. Calls of
other tools are refused.
"""

from __future__ import annotations

import json
from typing import Any

from claude_agent_sdk import HookContext, HookMatcher
from claude_agent_sdk.types import HookEvent, HookInput, HookJSONOutput

from omen.gate import Caller, OpenCall, Refused, ToolFailed

__all__ = ["gate_hooks"]


def gate_hooks(
    caller: Caller, *, server: str | None = None, timeout: float = 600
) -> dict[HookEvent, list[HookMatcher]]:
    """Returns hooks that take each call through the gate. If a hook fails before a call, the call is blocked."""
    open_calls: dict[str, OpenCall] = {}

    async def before(data: HookInput, tool_use_id: str | None, _: HookContext) -> HookJSONOutput:
        event: dict[str, Any] = dict(data)
        try:
            call = await caller.abegin(event["tool_name"], json.dumps(event["tool_input"]), server=server)
        except Refused as refused:
            return _denied(refused.for_model())
        open_calls[tool_use_id or event["tool_use_id"]] = call
        # No decision, so that the permissions of Claude Code still apply.
        return {}

    async def after(data: HookInput, tool_use_id: str | None, _: HookContext) -> HookJSONOutput:
        event: dict[str, Any] = dict(data)
        call = open_calls.pop(tool_use_id or event["tool_use_id"], None)
        if call is None:
            return _blocked("The call did not go through the gate.")
        try:
            if event["hook_event_name"] == "PostToolUse":
                await call.succeed(event["tool_response"])
            else:
                await call.fail(str(event["error"]))
        except ToolFailed:
            # Claude Code itself reports the failure to the model.
            return {}
        except Refused as refused:
            return _blocked(refused.for_model())
        return {}

    hooks: dict[HookEvent, list[HookMatcher]] = {
        "PreToolUse": [HookMatcher(hooks=[before], timeout=timeout, on_failure="block")],
        "PostToolUse": [HookMatcher(hooks=[after], timeout=timeout)],
        "PostToolUseFailure": [HookMatcher(hooks=[after], timeout=timeout)],
    }
    return hooks


def _denied(why: str) -> HookJSONOutput:
    output = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": why}
    return {"hookSpecificOutput": output}  # type: ignore[typeddict-item]


def _blocked(why: str) -> HookJSONOutput:
    return {"decision": "block", "reason": why}
