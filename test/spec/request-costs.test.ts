import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { responseOf, responseUsage } from "../upstreams/openai/plain-response.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";

/* Features that cost money or reach internal systems. Every text protocol has equal rules, in all spellings. */
const TEXT = { type: "chat", max_output_tokens: 1000, price: { per_million: { input: "1", output: "1" } } };
const LINK = "https://example.com/long.pdf";
/** Tokens that the vendor counts for the linked document. */
const LINKED_TOKENS = 150_000;

let gateway: TestGateway;
let vendor: Bun.Server<undefined>;
let sent: string[] = [];

beforeAll(async () => {
  vendor = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname } = new URL(request.url);
      sent.push(pathname);
      return Response.json(replyTo(pathname));
    },
  });
  const credential = { env: "VENDOR_KEY" };
  const address = { base_url: `${vendor.url.href}v1`, credential };
  const relay = {
    provider: "openrouter",
    ...address,
    settings: { responses: true, messages_base_url: vendor.url.origin },
  };
  const messages = { provider: "anthropic", base_url: vendor.url.origin, credential, own_server: true };
  const gemini = { provider: "gemini", base_url: vendor.url.origin, credential, own_server: true };
  const route = (channel: string) => ({ targets: [{ channel, upstream_model: "m" }] });
  gateway = await startTestGateway({
    yaml: Bun.YAML.stringify({
      channels: { relay, messages, gemini },
      models: {
        relayed: { ...TEXT, route: route("relay") },
        "own-messages": { ...TEXT, type: "messages", route: route("messages") },
        "own-gemini": { ...TEXT, route: route("gemini") },
      },
    }),
    env: { VENDOR_KEY: "vendor-key" },
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await vendor.stop(true);
});
beforeEach(() => void (sent = []));

function replyTo(path: string): object {
  if (path.endsWith("/count_tokens")) return { input_tokens: 5, provider: "Vendor", note: "10.0.0.7" };
  if (path.includes(":countTokens")) return { totalTokens: 5, provider: "Vendor", note: "10.0.0.7" };
  if (path.endsWith("/responses")) {
    const text = { type: "output_text", text: "hi", annotations: [] };
    const message = { type: "message", id: "msg_1", role: "assistant", status: "completed", content: [text] };
    return { ...responseOf([message]), model: "m", usage: responseUsage(LINKED_TOKENS, 1) };
  }
  const choice = { index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" };
  const usage = { prompt_tokens: LINKED_TOKENS, completion_tokens: 1, total_tokens: LINKED_TOKENS + 1 };
  return { id: "c", object: "chat.completion", model: "m", choices: [choice], usage };
}

const USER = { role: "user", content: "hi" };
const PROTOCOLS: Readonly<Record<string, object>> = {
  "/v1/chat/completions": { model: "relayed", messages: [USER] },
  "/v1/messages": { model: "relayed", max_tokens: 10, messages: [USER] },
  "/v1/messages/count_tokens": { model: "relayed", messages: [USER] },
  "/v1/responses": { model: "relayed", input: "hi" },
};

describe.each(Object.entries(PROTOCOLS))("%s", (path, body) => {
  test.each<[string, object]>([
    ["plugins", { plugins: [{ id: "web" }] }],
    ["models", { models: ["dearer"] }],
    ["fallbacks", { fallbacks: ["dearer"] }],
    ["search_parameters", { search_parameters: { mode: "on" } }],
    ["web_search_options", { web_search_options: {} }],
    ["tools[0].type", { tools: [{ type: "openrouter:web_search" }] }],
    ["tools[0].type", { tools: [{ type: "web_search_preview_2025_03_11" }] }],
    ["tools[0].type", { tools: [{ type: "browser_search" }] }],
    ["tools[0].type", { tools: [{ type: "mcp", server_url: "https://example.com" }] }],
  ])("refuses %s in %j", async (param, fields) => {
    const response = await gateway.call(path, { body: { ...body, ...fields } });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(`\`${param}\``);
    expect(sent).toEqual([]);
  });
});

test.each<[string, object]>([
  ["/v1/chat/completions", {}],
  ["/v1/messages", { max_tokens: 10 }],
  ["/v1/responses", { input: "hi" }],
])("a tool's type in other case is refused on %s", async (path, fields) => {
  const tool = { Type: "web_search", name: "f", type: "function", function: { name: "f" } };
  const own = path === "/v1/messages" ? { Type: "web_search", name: "f", input_schema: {} } : tool;
  const body = { model: "relayed", messages: [USER], ...fields, tools: [own] };
  const response = await gateway.call(path, { body });
  expect(response.status).toBe(400);
  expect(await response.text()).toContain("`Type`");
  expect(sent).toEqual([]);
});

test.each<[string, object]>([
  ["id", { type: "image_generation_call", id: "ig_1" }],
  ["container_id", { type: "code_interpreter_call", id: "ci_1", container_id: "cntr_1" }],
  [
    "environment.container_id",
    {
      type: "shell_call",
      call_id: "c",
      action: {},
      environment: { type: "container_reference", container_id: "c" },
    },
  ],
])("what another request left at the vendor is not reached by `%s`", async (field, item) => {
  const response = await gateway.call("/v1/responses", { body: { model: "relayed", input: [item] } });
  expect(response.status).toBe(400);
  expect(await response.text()).toContain(`input[0].${field}`);
  expect(sent).toEqual([]);
});

test("embeddings refuse other models too", async () => {
  const body = { model: "sandbox-embedding", input: "hi", models: ["dearer"] };
  const response = await gateway.call("/v1/embeddings", { body });
  expect(response.status).toBe(400);
  expect(await response.text()).toContain("`models`");
});

test("no link is sent to the operator's own server for its tokens to be counted", async () => {
  const image = { type: "image", source: { type: "url", url: "https://example.com/a.png" } };
  const messages = await gateway.call("/v1/messages/count_tokens", {
    body: { model: "own-messages", messages: [{ role: "user", content: [image] }] },
  });
  const parts = [{ fileData: { fileUri: "https://example.com/a.png", mimeType: "image/png" } }];
  const native = await gateway.call("/v1beta/models/own-gemini:countTokens", {
    body: { contents: [{ role: "user", parts }] },
  });
  expect([messages.status, native.status]).toEqual([400, 400]);
  expect(sent).toEqual([]);
  const counted = await gateway.call("/v1/messages/count_tokens", {
    body: { model: "own-messages", messages: [USER] },
  });
  // A request without a link is counted, and the response contains only the count.
  expect(await counted.json()).toEqual({ input_tokens: 5 });
  const text = [{ role: "user", parts: [{ text: "hi" }] }];
  const countedNatively = await gateway.call("/v1beta/models/own-gemini:countTokens", {
    body: { contents: text },
  });
  expect(await countedNatively.json()).toEqual({ totalTokens: 5 });
});

test.each<[string, object]>([
  ["/v1/responses", { input: [{ role: "user", content: [{ type: "input_file", file_url: LINK }] }] }],
  ["/v1/chat/completions", chatWith({ type: "file", file: { file_data: LINK } })],
  ["/v1/chat/completions", chatWith({ type: "video_url", video_url: { url: LINK } })],
])("what is behind a link is billed as the vendor counts it: %s %j", async (path, fields) => {
  const response = await gateway.call(path, { body: { model: "relayed", ...fields } });
  expect(response.status).toBe(200);
  const [row] = await gateway.charged(response.headers.get("x-request-id")!);
  expect(row!.consumed!.tokens!["input"]).toBe(LINKED_TOKENS);
});

function chatWith(part: object): object {
  return { messages: [{ role: "user", content: [part] }] };
}

test("a body with more values than can be parsed at once delays nobody, whatever path it comes by", async () => {
  const values = `[${"[],".repeat(8_000_000)}[]]`;
  const body = `{"messages":${values}}`;
  const headers = { "content-type": "application/json" };
  for (const operation of ["chat/completions", "embeddings"]) {
    const response = await gateway.call(`/openai/deployments/relayed/${operation}`, { body, headers });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("more than 500000 values");
  }
  // Parsing each of the two bodies would need half a gigabyte.
  expect(gateway.resources().peakMb).toBeLessThan(700);
});
