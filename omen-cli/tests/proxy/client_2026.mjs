// A client with the official TypeScript package, for protocol 2026-07-28: a list, calls, progress, a call in two rounds, calls that
// its user confirms or declines, and one that is refused. Prints the result of each on its own line.

import { createRequire } from "node:module";

const [packages, mode, command, ...args] = process.argv.slice(2);
const require = createRequire(`${packages}/client.js`);
const { Client } = require("@modelcontextprotocol/client");
const { StdioClientTransport } = require("@modelcontextprotocol/client/stdio");

const say = (...words) => console.log(words.join(" "));
const text = (result) => result.content[0].text;
const code = (result) => text(result).match(/^Refused by the gate \((.*?)\)/)?.[1] ?? text(result);
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const call = (name, args = {}, more) => client.callTool({ name, arguments: args }, more);

const client = new Client(
  { name: "test", version: "1" },
  { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: "2026-07-28" } } },
);
// Answers at a human's pace, then faster than a human, then with a refusal.
const answers = [[1200, "accept"], [0, "accept"], [1200, "decline"]];
client.setRequestHandler("elicitation/create", async ({ params }) => {
  const tool = params.message.match(/Tool: (\S+)/)?.[1];
  // A question of the server itself.
  if (!tool) return { action: "accept", content: { name: "Ada" } };
  const [ms, action] = answers.shift();
  say("asked about", tool);
  await sleep(ms);
  return action === "accept" ? { action, content: { confirm: true } } : { action };
});
await client.connect(new StdioClientTransport({ command, args, stderr: "ignore" }));

say("version:", client.getNegotiatedProtocolVersion());
const tools = (await client.listTools()).tools.map((tool) => tool.name);
say("tools:", tools.length > 8 ? "many" : "few", tools.includes("test_audio_content"));
say("text:", text(await call("test_simple_text")));
say("error:", (await call("test_error_handling")).isError);
let steps = 0;
await call("test_tool_with_progress", {}, { onprogress: () => steps++ });
say("progress:", steps > 0);
say("two rounds:", text(await call("test_input_required_result_elicitation")));
say("prompt:", (await client.getPrompt({ name: "test_simple_prompt" })).messages.length);
say("resource:", (await client.readResource({ uri: "test://static-text" })).contents[0].text);

if (mode === "gated") {
  const region = () => call("test_x_mcp_header", { region: "eu" });
  say("confirmed:", text(await region()));
  say("too fast:", code(await region()));
  say("declined:", code(await region()));
  say("not allowed:", code(await call("test_audio_content")));
}
await client.close();
