"""A client with the official Python package, connected to the proxy: a read, a write that its user confirms, two refusals."""

import asyncio
import sys

import mcp.types as types
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

data, command, *args = sys.argv[1:]
answers = [(1.2, "accept"), (0, "accept")]


async def elicit(_context, params):
    """Answers at a human's pace, and then faster than a human."""
    seconds, action = answers.pop(0)
    if seconds:
        print("asked about", params.message.split("Tool: ")[1].split(" ")[0], flush=True)
    await asyncio.sleep(seconds)
    return types.ElicitResult(action=action, content={"confirm": True})


def code(result):
    """Returns the code of a refusal from the text that a model reads."""
    text = result.content[0].text
    return text.split("(")[1].split(")")[0] if text.startswith("Refused by the gate") else text


async def main():
    server = StdioServerParameters(command=command, args=args)
    async with stdio_client(server) as (read, write), ClientSession(read, write, elicitation_callback=elicit) as session:
        await session.initialize()
        names = [tool.name for tool in (await session.list_tools()).tools]
        assert "write_file" in names and "move_file" not in names, names
        print("listed, without move_file", flush=True)
        result = await session.call_tool("read_text_file", {"path": f"{data}/note.txt"})
        print(result.content[0].text, flush=True)
        await session.call_tool("write_file", {"path": f"{data}/new.txt", "content": "x"})
        print("written", flush=True)
        result = await session.call_tool("write_file", {"path": f"{data}/other.txt", "content": "x"})
        print("refused:", code(result), flush=True)
        result = await session.call_tool("move_file", {"source": f"{data}/new.txt", "destination": f"{data}/b.txt"})
        print("refused:", code(result), flush=True)


asyncio.run(main())
