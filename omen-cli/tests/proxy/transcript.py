"""Plays a transcript with the official Python package: each line is one call of the client, or several concurrent ones."""

import asyncio
import json
import sys

import mcp.types as types
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

transcript, command, *args = sys.argv[1:]
lines = [json.loads(line) for line in open(transcript, encoding="utf-8")]
answers = []


async def elicit(_context, _params):
    """Answers as the user in the transcript does, if there is one."""
    answer = answers.pop(0) if answers else None
    if answer is None:
        return types.ElicitResult(action="cancel")
    return types.ElicitResult(action="accept", content={"confirm": answer == "yes"})


def text(result):
    return "\n".join(content.text for content in result.content)


def failed(result):
    """Whether a call failed. The name of the attribute differs between versions of the package."""
    return bool(result.isError if hasattr(result, "isError") else result.is_error)


async def main():
    server = StdioServerParameters(command=command, args=args)
    async with stdio_client(server) as (read, write), ClientSession(read, write, elicitation_callback=elicit) as session:
        await session.initialize()
        names = [tool.name for tool in (await session.list_tools()).tools]
        print(json.dumps({"tools": names}), flush=True)
        for line in lines:
            calls = line.get("together") or ([line] if "call" in line else [])
            answers[:] = [line["user"]] if "user" in line else []
            made = [session.call_tool(call["call"], call["arguments"]) for call in calls]
            results = await asyncio.gather(*made)
            for result in sorted(results, key=failed):
                # After concurrent calls, what is legal next depends on which have ended.
                read = text(result).split("\nState: ")[0] if len(calls) > 1 else text(result)
                print(json.dumps({"text": read}), flush=True)


asyncio.run(main())
