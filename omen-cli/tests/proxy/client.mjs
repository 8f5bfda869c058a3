// A client with the official TypeScript package: a list, calls with progress, a call that is cancelled, one that its user confirms,
// and three that are refused. Prints the result of each on its own line.

import { createRequire } from "node:module";

const [packages, mode, command, ...args] = process.argv.slice(2);
const require = createRequire(`${packages}/client.js`);
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
const { ElicitRequestSchema, ListRootsRequestSchema } = require("@modelcontextprotocol/sdk/types.js");

const say = (...words) => console.log(words.join(" "));
const text = (result) => result.content[0].text;
const code = (result) => text(result).match(/^Refused by the gate \((.*?)\)/)?.[1] ?? text(result);
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

const client = new Client(
  { name: "test", version: "1" },
  { capabilities: { elicitation: { form: {} }, roots: {} } },
);
// Answers at a human's pace, then faster than a human, then with a refusal.
const answers = [[1200, "accept"], [0, "accept"], [1200, "decline"]];
client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
  const [ms, action] = answers.shift();
  say("asked about", params.message.match(/Tool: (\S+)/)[1]);
  await sleep(ms);
  return action === "accept" ? { action, content: { confirm: true } } : { action };
});
client.setRequestHandler(ListRootsRequestSchema, async () => ({ roots: [] }));
await client.connect(new StdioClientTransport({ command, args, stderr: "ignore" }));

const tools = (await client.listTools()).tools.map((tool) => tool.name);
say("tools:", tools.length > 8 ? "many" : "few", tools.includes("get-env"));
say("echo:", text(await client.callTool({ name: "echo", arguments: { message: "\u00e9" } })));
const weather = await client.callTool({ name: "get-structured-content", arguments: { location: "Chicago" } });
say("structured:", Object.keys(weather.structuredContent).sort().join(","));

let steps = 0;
const long = { name: "trigger-long-running-operation", arguments: { duration: 0.2, steps: 2 } };
await client.callTool(long, undefined, { onprogress: () => steps++ });
// The package drops progress that it reads together with the result.
say("progress:", steps > 0);

const controller = new AbortController();
const endless = { name: "trigger-long-running-operation", arguments: { duration: 600, steps: 600 } };
const running = client.callTool(endless, undefined, {
  signal: controller.signal,
  onprogress: () => controller.abort("enough"),
  timeout: 60_000,
});
say("cancelled:", await running.then(() => false, () => true));
say("echo:", text(await client.callTool({ name: "echo", arguments: { message: "still here" } })));

if (mode === "gated") {
  const sum = () => client.callTool({ name: "get-sum", arguments: { a: 1, b: 2 } });
  say("confirmed:", text(await sum()));
  say("too fast:", code(await sum()));
  say("declined:", code(await sum()));
  say("not allowed:", code(await client.callTool({ name: "get-env", arguments: {} })));
  say("unknown argument:", code(await client.callTool({ name: "echo", arguments: { message: "x", more: 1 } })));
}
await client.close();
