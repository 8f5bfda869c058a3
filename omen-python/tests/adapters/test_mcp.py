"""Session with a server of the official Model Context Protocol SDK, in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

pytest.importorskip("mcp")

from gate.gate_world import World
from mcp import Client
from mcp.server import MCPServer
from omen.adapters.mcp import GateSession
from omen.gate import Gate, Refused


def server_of(done: list[str]) -> MCPServer:
    server = MCPServer("files")

    @server.tool()
    def read(path: str) -> dict[str, str]:
        """Reads a file."""
        done.append(f"read {path}")
        return {"path": path}

    @server.tool()
    def write(path: str) -> str:
        """Writes a file."""
        done.append(f"write {path}")
        return "written"

    @server.tool()
    def fail() -> str:
        """Fails."""
        done.append("fail")
        raise OSError("disk")

    return server


def connected(gate: Gate, done: list[str], use: Callable[[GateSession], Awaitable[Any]]) -> Any:
    async def main() -> Any:
        async with Client(server_of(done)) as client:
            session = GateSession(client.session, gate, server="app")
            await session.list_tools()
            return await use(session)

    return asyncio.run(main())


async def nothing(_: GateSession) -> None:
    pass


def test_a_refused_call_is_a_result_with_an_error(world: World) -> None:
    done: list[str] = []
    gate = world.gate(lambda gate: connected(gate, done, nothing), allow=["read", "fail"])

    async def use(session: GateSession) -> None:
        read = await session.call_tool("read", {"path": "a"})
        assert read.structured_content == {"path": "a"} and not read.is_error
        for name, arguments, code in [("write", {"path": "a"}, "PG-3"), ("read", {}, "PG-2"), ("delete", {}, "PG-2")]:
            refused = await session.call_tool(name, arguments)
            assert refused.is_error and refused.meta is not None
            assert refused.meta["omen/decision"]["code"] == code
            text: Any = refused.content[0]
            assert text.text.startswith(f"Refused by the gate ({code}): ")
        failed = await session.call_tool("fail")
        text = failed.content[0]
        assert failed.is_error and "Error executing tool fail. The tool ran and failed." in text.text
        # Without the session, through the gate itself.
        assert (await gate.acall("read", {"path": "b"})).value == {"path": "b"}
        with pytest.raises(Refused):
            await gate.acall("write", {"path": "b"})

    connected(gate, done, use)
    assert done == ["read a", "fail", "read b"]
    assert world.outcomes() == ["yes"] * 3
