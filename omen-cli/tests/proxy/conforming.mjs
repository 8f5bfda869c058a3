// A stdio server with everything that the official conformance suite requires of servers.

import { createInterface } from "node:readline";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const open = new Map();
let last = 0;

/** Sends the client a request. */
const ask = (method, params) =>
  new Promise((done, fail) => {
    const id = `server-${++last}`;
    open.set(id, { done, fail });
    write({ id, method, params });
  });

const text = (text) => ({ type: "text", text });
const image = { type: "image", data: PNG, mimeType: "image/png" };
const resource = (uri, mimeType, text) => ({ type: "resource", resource: { uri, mimeType, text } });
const one = (content) => ({ content: [content] });
const titled = (...pairs) => pairs.map(([value, title]) => ({ const: value, title }));
const three = ["option1", "option2", "option3"];

async function elicit(message, properties, required = []) {
  return ask("elicitation/create", { message, requestedSchema: { type: "object", properties, required } });
}

const completed = ({ action, content }) =>
  one(text(`Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`));

/** Tools: their schemas and functions. */
const tools = {
  test_simple_text: [{}, () => one(text("This is a simple text response for testing."))],
  test_image_content: [{}, () => one(image)],
  test_audio_content: [{}, () => one({ type: "audio", data: WAV, mimeType: "audio/wav" })],
  test_embedded_resource: [
    {},
    () => one(resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")),
  ],
  test_multiple_content_types: [
    {},
    () => ({
      content: [
        text("Multiple content types test:"),
        image,
        resource("test://mixed-content-resource", "application/json", JSON.stringify({ test: "data", value: 123 })),
      ],
    }),
  ],
  test_tool_with_logging: [
    {},
    async () => {
      for (const data of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
        write({ method: "notifications/message", params: { level: "info", data } });
        await sleep(50);
      }
      return one(text("Done."));
    },
  ],
  test_tool_with_progress: [
    {},
    async (_, token) => {
      for (const progress of [0, 50, 100]) {
        if (token !== undefined) {
          write({ method: "notifications/progress", params: { progressToken: token, progress, total: 100 } });
        }
        await sleep(50);
      }
      return one(text("Done."));
    },
  ],
  test_reconnection: [{}, () => one(text("Done."))],
  test_error_handling: [
    {},
    () => ({ ...one(text("This tool intentionally returns an error for testing")), isError: true }),
  ],
  test_sampling: [
    { prompt: { type: "string" } },
    async ({ prompt }) => {
      const messages = [{ role: "user", content: text(prompt) }];
      const { content } = await ask("sampling/createMessage", { messages, maxTokens: 100 });
      return one(text(`LLM response: ${content.text}`));
    },
  ],
  test_elicitation: [
    { message: { type: "string" } },
    async ({ message }) => {
      const field = (description) => ({ type: "string", description });
      const answer = await elicit(
        message,
        { username: field("User's response"), email: field("User's email address") },
        ["username", "email"],
      );
      return one(text(`User response: ${JSON.stringify(answer)}`));
    },
  ],
  test_elicitation_sep1034_defaults: [
    {},
    async () =>
      completed(
        await elicit("Please check the defaults", {
          name: { type: "string", default: "John Doe" },
          age: { type: "integer", default: 30 },
          score: { type: "number", default: 95.5 },
          status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
          verified: { type: "boolean", default: true },
        }),
      ),
  ],
  test_elicitation_sep1330_enums: [
    {},
    async () =>
      completed(
        await elicit("Please choose", {
          untitledSingle: { type: "string", enum: three },
          titledSingle: {
            type: "string",
            oneOf: titled(["value1", "First Option"], ["value2", "Second Option"], ["value3", "Third Option"]),
          },
          legacyEnum: {
            type: "string",
            enum: ["opt1", "opt2", "opt3"],
            enumNames: ["Option One", "Option Two", "Option Three"],
          },
          untitledMulti: { type: "array", items: { type: "string", enum: three } },
          titledMulti: {
            type: "array",
            items: { anyOf: titled(["value1", "First Choice"], ["value2", "Second Choice"], ["value3", "Third Choice"]) },
          },
        }),
      ),
  ],
  json_schema_2020_12_tool: [{ name: { type: "string" }, address: { $ref: "#/$defs/address" } }, () => one(text("Done."))],
};

const list = Object.entries(tools).map(([name, [properties]]) => {
  const inputSchema = { type: "object", properties };
  if (name === "json_schema_2020_12_tool") {
    const address = { type: "object", properties: { street: { type: "string" }, city: { type: "string" } } };
    inputSchema.$schema = "https://json-schema.org/draft/2020-12/schema";
    inputSchema.$defs = { address };
    inputSchema.additionalProperties = false;
  }
  return { name, description: `What the conformance suite expects of ${name}.`, inputSchema };
});

const resources = {
  "test://static-text": { mimeType: "text/plain", text: "This is the content of the static text resource." },
  "test://static-binary": { mimeType: "image/png", blob: PNG },
  "test://watched-resource": { mimeType: "text/plain", text: "Watched." },
};

function read({ uri }) {
  const id = uri.match(/^test:\/\/template\/(.*)\/data$/)?.[1];
  const template = id && {
    mimeType: "application/json",
    text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
  };
  return { contents: [{ uri, ...(template ?? resources[uri]) }] };
}

const user = (...contents) => ({ messages: contents.map((content) => ({ role: "user", content })) });
const prompts = {
  test_simple_prompt: [[], () => user(text("This is a simple prompt for testing."))],
  test_prompt_with_arguments: [
    ["arg1", "arg2"],
    ({ arg1, arg2 }) => user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  ],
  test_prompt_with_embedded_resource: [
    ["resourceUri"],
    ({ resourceUri }) =>
      user(
        resource(resourceUri, "text/plain", "Embedded resource content for testing."),
        text("Please process the embedded resource above."),
      ),
  ],
  test_prompt_with_image: [[], () => user(image, text("Please analyze the image above."))],
};

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, logging: {}, completions: {} },
    serverInfo: { name: "conforming", version: "1" },
  }),
  ping: () => ({}),
  "logging/setLevel": () => ({}),
  "completion/complete": () => ({ completion: { values: ["paris", "park"], total: 2, hasMore: false } }),
  "tools/list": () => ({ tools: list }),
  "tools/call": async ({ name, arguments: args = {}, _meta }) => {
    if (!tools[name]) throw new Error(`Unknown tool: ${name}`);
    return tools[name][1](args, _meta?.progressToken);
  },
  "resources/list": () => ({
    resources: Object.entries(resources).map(([uri, { mimeType }]) => ({ uri, name: uri, description: uri, mimeType })),
  }),
  "resources/templates/list": () => ({
    resourceTemplates: [{ uriTemplate: "test://template/{id}/data", name: "template", mimeType: "application/json" }],
  }),
  "resources/read": read,
  "resources/subscribe": () => ({}),
  "resources/unsubscribe": () => ({}),
  "prompts/list": () => ({
    prompts: Object.entries(prompts).map(([name, [args]]) => ({
      name,
      description: name,
      arguments: args.map((name) => ({ name, description: name, required: true })),
    })),
  }),
  "prompts/get": ({ name, arguments: args = {} }) => prompts[name][1](args),
};

createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params = {}, result, error } = JSON.parse(line);
  if (!method) {
    const asked = open.get(id);
    open.delete(id);
    return error ? asked?.fail(new Error(error.message)) : asked?.done(result);
  }
  if (id === undefined) return;
  if (!methods[method]) return write({ id, error: { code: -32601, message: `unknown method ${method}` } });
  try {
    write({ id, result: await methods[method](params) });
  } catch ({ message }) {
    write({ id, error: { code: -32602, message } });
  }
});
