"""A server whose tools return their arguments sorted by name, fail, or never return. Needs no packages."""

import json
import sys

schema = {"type": "object", "properties": {"x": {}, "y": {}, "operation": {}}}
typed = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
tools = [
    {"name": name, "description": f"Does `{name}`.", "inputSchema": schema}
    for name in ["read", "write", "ask", "unlisted", "changed", "ungranted"]
]
tools.append({"name": "typed", "description": "Does `typed`.", "inputSchema": schema, "outputSchema": typed})

for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params") or {}
    if "id" not in message or method is None:
        continue
    if method == "initialize":
        about = {"name": "test", "version": "1"}
        result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": about}
    elif method == "tools/list":
        result = {"tools": tools}
    elif method == "tools/call":
        arguments = params.get("arguments", {})
        if arguments.get("x") == "hang":
            continue
        text = json.dumps(arguments, separators=(",", ":"), sort_keys=True)
        result = {"content": [{"type": "text", "text": text}], "isError": arguments.get("x") == "fail"}
    else:
        result = {}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
