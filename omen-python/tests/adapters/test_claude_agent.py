"""Hooks in the client of the Claude Agent SDK. A transport stands in for Claude Code, and speaks its protocol with the SDK."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

pytest.importorskip("claude_agent_sdk")

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, ResultMessage, Transport
from gate.gate_world import World
from omen.adapters.claude_agent import gate_hooks
from omen.gate import Gate


class ClaudeCode(Transport):
    """Claude Code whose model makes these calls; it asks the hooks, runs the tools, and reports their outcomes."""

    def __init__(self, *calls: tuple[str, dict[str, Any]]) -> None:
        self.calls, self.done, self.verdicts = calls, list[str](), list[Any]()
        self._messages: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._replies: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._hooks: dict[str, str] = {}
        self._work: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        pass

    async def write(self, data: str) -> None:
        message = json.loads(data)
        if message["type"] == "control_response":
            await self._replies.put(message["response"])
        elif message["type"] == "user":
            self._work = asyncio.create_task(self._run())
        elif message["request"]["subtype"] == "initialize":
            hooks = message["request"]["hooks"]
            assert [matcher["onFailure"] for matcher in hooks["PreToolUse"]] == ["block"]
            self._hooks = {event: matchers[0]["hookCallbackIds"][0] for event, matchers in hooks.items()}
            reply = {"hook_on_failure_supported": True, "hooks_applied": True}
            response = {"subtype": "success", "request_id": message["request_id"], "response": reply}
            await self._messages.put({"type": "control_response", "response": response})

    async def _hook(self, event: str, data: dict[str, Any]) -> dict[str, Any]:
        request = {"subtype": "hook_callback", "callback_id": self._hooks[event], "tool_use_id": data["tool_use_id"]}
        request["input"] = {"hook_event_name": event, "session_id": "s", "transcript_path": "", "cwd": "/"} | data
        await self._messages.put({"type": "control_request", "request_id": "r", "request": request})
        reply = await self._replies.get()
        # A failed hook blocks the call, as with `onFailure: block`.
        return dict(reply["response"]) if reply["subtype"] == "success" else {"failed": reply["error"]}

    async def _run(self) -> None:
        for number, (name, arguments) in enumerate(self.calls):
            data = {"tool_name": name, "tool_input": arguments, "tool_use_id": f"t{number}"}
            verdict = await self._hook("PreToolUse", data)
            self.verdicts.append(verdict.get("hookSpecificOutput", verdict))
            if verdict != {}:
                continue
            self.done.append(f"{name} {arguments}")
            if arguments.get("command") == "false":
                await self._hook("PostToolUseFailure", data | {"error": "exit code 1"})
            else:
                self.verdicts.append(await self._hook("PostToolUse", data | {"tool_response": {"stdout": "x"}}))
        result = {"type": "result", "subtype": "success", "duration_ms": 1, "duration_api_ms": 1, "is_error": False}
        await self._messages.put(result | {"num_turns": 1, "session_id": "s", "result": "done"})
        await self._messages.put(None)

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        while (message := await self._messages.get()) is not None:
            yield message

    async def close(self) -> None:
        if self._work is not None:
            await self._work

    def is_ready(self) -> bool:
        return True

    async def end_input(self) -> None:
        pass


def define(gate: Gate) -> None:
    def of_claude(command: str) -> None: ...

    schema = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
    for name in ("Bash", "Write"):
        gate.register({"name": name, "inputSchema": schema}, of_claude)


def run(gate: Gate, *calls: tuple[str, dict[str, Any]]) -> ClaudeCode:
    async def main() -> ClaudeCode:
        claude = ClaudeCode(*calls)
        async with ClaudeSDKClient(ClaudeAgentOptions(hooks=gate_hooks(gate)), transport=claude) as client:
            await client.query("write a")
            assert [type(message) for message in [message async for message in client.receive_response()]] == [
                ResultMessage
            ]
        return claude

    return asyncio.run(asyncio.wait_for(main(), 20))


def test_the_model_reads_why_a_call_was_refused(world: World) -> None:
    gate = world.gate(define, allow=["Bash"], rules='where = { "/command" = { in = ["ls", "false"] } }')
    claude = run(
        gate, ("Bash", {"command": "ls"}), ("Bash", {"command": "rm"}), ("Write", {"command": "a"}), ("Edit", {})
    )
    allowed, ended, *denied = claude.verdicts
    assert allowed == ended == {}
    assert claude.done == ["Bash {'command': 'ls'}"]
    assert [output["permissionDecision"] for output in denied] == ["deny"] * 3
    reasons = [output["permissionDecisionReason"] for output in denied]
    assert [reason.split(":")[0] for reason in reasons] == [
        f"Refused by the gate ({code})" for code in ("PG-3", "PG-3", "PG-2")
    ]
    assert world.outcomes() == ["yes"]


def test_a_failure_is_recorded(world: World) -> None:
    claude = run(world.gate(define), ("Bash", {"command": "false"}))
    assert claude.done == ["Bash {'command': 'false'}"]
    assert [entry["data"]["class"] for entry in world.entries("outcome")] == ["tool"]


def test_a_hook_that_fails_blocks_the_call(world: World) -> None:
    gate = world.gate(define)
    gate.close()
    claude = run(gate, ("Bash", {"command": "ls"}))
    assert "the gate is closed" in claude.verdicts[0]["failed"] and claude.done == []
