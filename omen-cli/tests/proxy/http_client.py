"""A client with the official Python package that reaches the proxy over HTTP: allowed calls, two refusals, and a wrong token."""

import asyncio
import sys

import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

url, token, mode, tool, argument, refused_tool = sys.argv[1:]


def text(result):
    """Returns the text that a model reads, or only the code of a refusal."""
    said = result.content[0].text
    return said.split("(")[1].split(")")[0] if said.startswith("Refused by the gate") else said


def transport(token):
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60)
    return streamable_http_client(url, http_client=http)


async def main():
    async with Client(transport(token), mode=mode) as client:
        print(client.protocol_version, flush=True)
        names = [listed.name for listed in (await client.list_tools()).tools]
        print("listed:", tool in names, refused_tool in names, flush=True)
        name, value = argument.split("=")
        print(text(await client.call_tool(tool, {name: value})), flush=True)
        several = await asyncio.gather(*(client.call_tool(tool, {name: value}) for _ in range(5)))
        print(len({text(result) for result in several}), flush=True)
        result = await client.call_tool(refused_tool, {name: value})
        print("refused:", result.is_error, text(result), flush=True)
    try:
        async with Client(transport(token[:-1] + "x"), mode=mode) as client:
            await client.list_tools()
            print("served", flush=True)
    except BaseException as error:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        print("not served:", isinstance(error, MCPError), flush=True)


asyncio.run(main())
