// A server, written with the official TypeScript package, with everything that the official conformance suite requires of servers for
// 2026-07-28. `node conforming_2026.mjs PACKAGES stdio` serves on its standard streams; `… http` serves over HTTP, prints the address,
// and ends when its input is closed.

import { createServer } from "node:http";
import { createRequire } from "node:module";
import { Readable } from "node:stream";

const [packages, transport] = process.argv.slice(2);
const require = createRequire(`${packages}/conforming.js`);
const {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  completable,
  createMcpHandler,
  createRequestStateCodec,
  fromJsonSchema,
  inputRequired,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  hostHeaderValidationResponse,
  originValidationResponse,
  McpServer,
  ResourceTemplate,
} = require("@modelcontextprotocol/server");
const { serveStdio } = require("@modelcontextprotocol/server/stdio");
const { z } = require("zod");

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

const state = createRequestStateCodec({ key: crypto.getRandomValues(new Uint8Array(32)) });
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const text = (text) => ({ type: "text", text });
const image = { type: "image", data: PNG, mimeType: "image/png" };
const resource = (uri, mimeType, text) => ({ type: "resource", resource: { uri, mimeType, text } });
const one = (content) => ({ content: [content] });

/** A form for the user with one field. */
const question = (message, field, type = "string") =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: "object", properties: { [field]: { type } }, required: [field] },
  });
const sampling = (words) =>
  inputRequired.createMessage({ messages: [{ role: "user", content: text(words) }], maxTokens: 50 });
const given = (context, key, field) => acceptedContent(context.mcpReq.inputResponses, key)?.[field];
const answered = (context, key) => context.mcpReq.inputResponses?.[key];

/** Sealed state of a round; it is never the same twice. */
const seal = (round) => state.mint({ ...round, at: performance.now() });

/** Asks for a confirmation, with a sealed state, until both are returned. */
async function confirmed(context, done) {
  if (given(context, "confirm", "ok") !== undefined && context.mcpReq.requestState() !== undefined) return one(text(done));
  const requestState = await seal({});
  return inputRequired({ inputRequests: { confirm: question("Please confirm", "ok", "boolean") }, requestState });
}

/** Functions of the tools, which receive the context of the request. */
const tools = {
  test_simple_text: () => one(text("This is a simple text response for testing.")),
  test_image_content: () => one(image),
  test_audio_content: () => one({ type: "audio", data: WAV, mimeType: "audio/wav" }),
  test_embedded_resource: () =>
    one(resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")),
  test_multiple_content_types: () => ({
    content: [
      text("Multiple content types test:"),
      image,
      resource("test://mixed-content-resource", "application/json", JSON.stringify({ test: "data", value: 123 })),
    ],
  }),
  test_error_handling: () => ({ ...one(text("This tool intentionally returns an error for testing")), isError: true }),
  test_tool_with_progress: async (context) => {
    const progressToken = context.mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined) {
        await context.mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken, progress, total: 100 },
        });
      }
      await sleep(50);
    }
    return one(text("Done."));
  },
  test_missing_capability: (context) =>
    answered(context, "answer")
      ? one(text("Done."))
      : inputRequired({ inputRequests: { answer: sampling("Say something") } }),
  test_streaming_elicitation: () => one(text("Done.")),
  test_logging_tool: async (context) => {
    await context.mcpReq.log("info", "the tool runs");
    return one(text("Done."));
  },
  test_trigger_tool_change: (_, changes) => (changes.toolsChanged(), one(text("Done."))),
  test_trigger_prompt_change: (_, changes) => (changes.promptsChanged(), one(text("Done."))),
  test_input_required_result_elicitation: (context) => {
    const name = given(context, "user_name", "name");
    if (typeof name === "string") return one(text(`Hello, ${name}!`));
    return inputRequired({ inputRequests: { user_name: question("What is your name?", "name") } });
  },
  test_input_required_result_sampling: (context) => {
    const answer = answered(context, "capital_question");
    if (answer !== undefined) return one(text(`The model says: ${answer.content.text}`));
    return inputRequired({ inputRequests: { capital_question: sampling("What is the capital of France?") } });
  },
  test_input_required_result_list_roots: (context) => {
    const roots = answered(context, "client_roots")?.roots;
    if (Array.isArray(roots)) return one(text(roots.map(({ uri }) => uri).join()));
    return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
  },
  test_input_required_result_request_state: (context) => confirmed(context, "state-ok"),
  test_input_required_result_tampered_state: (context) => confirmed(context, "Done."),
  test_input_required_result_multiple_inputs: async (context) => {
    const inputRequests = {
      user_name: question("What is your name?", "name"),
      greeting: sampling("Generate a greeting"),
      client_roots: inputRequired.listRoots(),
    };
    if (Object.keys(inputRequests).every((key) => answered(context, key))) return one(text("All three are here."));
    return inputRequired({ inputRequests, requestState: await seal({}) });
  },
  test_input_required_result_multi_round: async (context) => {
    const round = context.mcpReq.requestState()?.round ?? 0;
    const steps = [question("Step 1: What is your name?", "name"), question("Step 2: Which colour?", "color")];
    if (round === steps.length) return one(text("Done."));
    const requestState = await seal({ round: round + 1 });
    return inputRequired({ inputRequests: { [`step${round + 1}`]: steps[round] }, requestState });
  },
  test_input_required_result_capabilities: (context) => {
    if (context.mcpReq.inputResponses !== undefined) return one(text("Done."));
    const can = context.mcpReq.envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? {};
    const inputRequests = {
      ...(can.elicitation && { user_name: question("What is your name?", "name") }),
      ...(can.sampling && { greeting: sampling("Generate a greeting") }),
    };
    return Object.keys(inputRequests).length ? inputRequired({ inputRequests }) : one(text("Nothing can be asked."));
  },
};

/** Arguments whose schema needs JSON Schema 2020-12 to be understood in full. */
const address = { $anchor: "address", type: "object", properties: { street: { type: "string" }, city: { type: "string" } } };
const withSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: { address },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};
const region = { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } };

const user = (...contents) => ({ messages: contents.map((content) => ({ role: "user", content })) });

/** Creates a server whose tools report changes through `changes`. */
function serverWith(changes) {
  const server = new McpServer(
    { name: "conforming", version: "1" },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        completions: {},
      },
      requestState: { verify: state.verify },
    },
  );
  for (const [name, run] of Object.entries(tools)) {
    server.registerTool(name, { description: name, inputSchema: z.object({}) }, (_, context) => run(context, changes()));
  }
  const described = (name, schema) => [name, { description: name, inputSchema: fromJsonSchema(schema) }];
  server.registerTool(...described("json_schema_2020_12_tool", withSchema), () => one(text("Done.")));
  server.registerTool(...described("test_x_mcp_header", region), ({ region }) => one(text(`region: ${region}`)));

  const fixed = (name, uri, mimeType, content) =>
    server.registerResource(name, uri, { description: name, mimeType }, () => ({
      contents: [{ uri, mimeType, ...content }],
    }));
  fixed("static-text", "test://static-text", "text/plain", { text: "This is the content of the static text resource." });
  fixed("static-binary", "test://static-binary", "image/png", { blob: PNG });
  const template = new ResourceTemplate("test://template/{id}/data", { list: undefined });
  const mimeType = "application/json";
  server.registerResource("template", template, { description: "template", mimeType }, ({ href: uri }, { id }) => ({
    contents: [{ uri, mimeType, text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) }],
  }));

  const prompt = (name, argsSchema, get) => server.registerPrompt(name, { description: name, argsSchema }, get);
  prompt("test_simple_prompt", z.object({}), () => user(text("This is a simple prompt for testing.")));
  const completed = completable(z.string(), (value) => ["paris", "park"].filter((word) => word.startsWith(value)));
  prompt("test_prompt_with_arguments", z.object({ arg1: completed, arg2: z.string() }), ({ arg1, arg2 }) =>
    user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  );
  prompt("test_prompt_with_embedded_resource", z.object({ resourceUri: z.string() }), ({ resourceUri }) =>
    user(resource(resourceUri, "text/plain", "Embedded resource content for testing."), text("Please process it.")),
  );
  prompt("test_prompt_with_image", z.object({}), () => user(image, text("Please analyze the image above.")));
  prompt("test_input_required_result_prompt", z.object({}), (_, context) => {
    const words = given(context, "user_context", "context");
    if (words !== undefined) return user(text(`The context is ${words}.`));
    return inputRequired({ inputRequests: { user_context: question("What context should the prompt use?", "context") } });
  });
  return server;
}

// Clients of earlier protocol versions are refused.
const legacy = "reject";
if (transport === "stdio") {
  let server;
  const changes = () => ({
    toolsChanged: () => server.sendToolListChanged(),
    promptsChanged: () => server.sendPromptListChanged(),
  });
  serveStdio(() => (server = serverWith(changes)), { legacy });
} else {
  const handler = createMcpHandler(() => serverWith(() => handler.notify), { legacy });
  const listener = createServer(async (request, response) => {
    const url = `http://${request.headers.host ?? "127.0.0.1"}${request.url}`;
    const headers = new Headers(Object.entries(request.headers).filter(([, value]) => typeof value === "string"));
    const body = request.method === "POST" ? Readable.toWeb(request) : undefined;
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    const asked = new Request(url, { method: request.method, headers, body, duplex: "half", signal: gone.signal });
    const answer =
      hostHeaderValidationResponse(asked, localhostAllowedHostnames()) ??
      originValidationResponse(asked, localhostAllowedOrigins()) ??
      (await handler.fetch(asked));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (!answer.body) return response.end();
    response.flushHeaders();
    Readable.fromWeb(answer.body).on("error", () => response.destroy()).pipe(response);
  });
  listener.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${listener.address().port}/mcp`));
  process.stdin.resume().on("end", () => process.exit());
}
