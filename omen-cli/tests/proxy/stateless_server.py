"""A server with the official Python package, for protocol versions without a handshake."""

from mcp.server import MCPServer

server = MCPServer("stateless")


@server.tool(structured_output=False)
def greet(name: str) -> str:
    """Greets somebody."""
    return f"hello, {name}"


@server.tool(structured_output=False)
def forget(name: str) -> str:
    """Forgets somebody."""
    return f"who is {name}?"


server.run("stdio")
