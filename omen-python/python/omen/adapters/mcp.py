"""Session with a server of the Model Context Protocol whose tools run behind the gate.

    session = GateSession(ClientSession(read, write), gate, server="files")

The configuration lists the server without a command, as `[servers.files]`, since the program starts it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from mcp import ClientSession
from mcp.types import CallToolResult, ListToolsResult, PaginatedRequestParams

from omen.gate import Answer, Caller, Refused

__all__ = ["GateSession"]


class GateSession:
    """Session that takes each tool call through the gate; `caller` is the gate, or one of its sessions or turns."""

    def __init__(self, session: ClientSession, caller: Caller, *, server: str) -> None:
        self._session, self._caller, self._server = session, caller, server

    async def list_tools(self, *, params: PaginatedRequestParams | None = None) -> ListToolsResult:
        """Lists the tools of the server, and registers their forms with the gate."""
        listed = await self._session.list_tools(params=params)
        for tool in listed.tools:
            form = tool.model_dump(mode="json", by_alias=True, exclude_none=True)
            self._caller.gate.register(form, self._of(tool.name), server=self._server)
        return listed

    async def call_tool(self, name: str, arguments: dict[str, Any] | None = None) -> CallToolResult:
        """Calls a tool if the gate permits the call. A refusal is a result with `isError`."""
        kept: list[CallToolResult] = []

        async def run(arguments: dict[str, Any]) -> Answer:
            kept.append(await self._session.call_tool(name, arguments))
            return Answer(kept[0].model_dump(mode="json", by_alias=True, exclude_none=True))

        try:
            await self._caller.aperform(name, json.dumps(arguments or {}), run, server=self._server)
        except Refused as refused:
            decision = {"omen/decision": refused.evidence}
            content = [{"type": "text", "text": refused.for_model()}]
            return CallToolResult.model_validate({"content": content, "isError": True, "_meta": decision})
        return kept[0]

    def _of(self, name: str) -> Callable[..., Any]:
        async def call(**arguments: Any) -> Answer:
            result = await self._session.call_tool(name, arguments)
            return Answer(result.model_dump(mode="json", by_alias=True, exclude_none=True))

        return call
