// Streamable HTTP in front of a stdio server: each session starts the command again, and messages pass between the two transports
// of the official TypeScript package. Prints the address, and serves until its input is closed.

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createRequire } from "node:module";

const [packages, command, ...args] = process.argv.slice(2);
const require = createRequire(`${packages}/bridge.js`);
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
const { StreamableHTTPServerTransport } = require("@modelcontextprotocol/sdk/server/streamableHttp.js");
const { isInitializeRequest } = require("@modelcontextprotocol/sdk/types.js");

const sessions = new Map();

async function begin() {
  const stdio = new StdioClientTransport({ command, args, stderr: "ignore" });
  const http = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => sessions.set(id, http),
  });
  // A message that a server sends while it works on a request belongs on the stream of that request, if the message names the request.
  const byToken = new Map();
  http.onmessage = (message) => {
    const token = message.params?._meta?.progressToken;
    if (token !== undefined && message.id !== undefined) byToken.set(token, message.id);
    stdio.send(message);
  };
  stdio.onmessage = (message) => {
    const related = byToken.get(message.params?.progressToken);
    http.send(message, related === undefined ? undefined : { relatedRequestId: related }).catch(() => {});
  };
  http.onclose = () => {
    sessions.delete(http.sessionId);
    stdio.close();
  };
  stdio.onclose = () => http.close();
  await http.start();
  await stdio.start();
  return http;
}

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const refuse = (status, message) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32000, message } }));
  };
  const { port } = server.address();
  const own = [`localhost:${port}`, `127.0.0.1:${port}`];
  const origin = request.headers.origin;
  if (!own.includes(request.headers.host) || (origin && !own.includes(new URL(origin).host))) {
    return refuse(403, "foreign host or origin");
  }
  let body;
  try {
    body = chunks.length ? JSON.parse(Buffer.concat(chunks).toString()) : undefined;
  } catch {
    return refuse(400, "invalid JSON");
  }
  let session = sessions.get(request.headers["mcp-session-id"]);
  if (!session && isInitializeRequest(body)) session = await begin();
  if (!session) return refuse(404, "unknown session");
  await session.handleRequest(request, response, body);
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
process.stdin.resume().on("end", async () => {
  await Promise.all([...sessions.values()].map((session) => session.close()));
  process.exit(0);
});
