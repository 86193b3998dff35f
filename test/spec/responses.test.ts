import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { readEvents } from "../support/responses-schema.ts";

/* Guarantees that the gateway adds to the responses protocol, as callers and a vendor see them. */
const PATH = "/v1/responses";
const SAME =
  '"object":"response","created_at":1790000000,"access_programs":null,"error":null,"incomplete_details":null,' +
  '"instructions":null,"metadata":{},"parallel_tool_calls":true,"temperature":1,"tool_choice":"auto","tools":[],"top_p":1';
const WHOLE =
  `{"id":"resp_v1",${SAME},"model":"vendor-model-1", "status":"completed","store":true,"odd":1.0,` +
  '"output":[{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"h\\u00e9","annotations":[]}]},' +
  '{"type":"odd_item","big":12345678901234567890}],"usage":{"input_tokens":3,' +
  '"input_tokens_details":{"cached_tokens":0,"cache_write_tokens":0},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":8}}';
const STREAM = [
  `event: response.created\ndata: {"type":"response.created","sequence_number":0,"response":{"id":"resp_v1",${SAME},"model":"vendor-model-1","status":"in_progress","output":[]}}\n\n`,
  'event: response.odd.event\ndata: {"type":"response.odd.event","sequence_number":1,"x":1.0}\n\n',
  'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":2,"delta":"h\\u00e9","item_id":"msg_1","output_index":0,"content_index":0,"logprobs":[]}\n\n',
  `event: response.completed\ndata: {"type":"response.completed","sequence_number":3,"response":${WHOLE}}\n\n`,
].join("");

let gateway: TestGateway;
let vendor: Bun.Server<undefined>;
let sent: { path: string; body: string }[] = [];
/** Parts of the paths at which the vendor fails at present. */
let broken: string[] = [];

beforeAll(async () => {
  vendor = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const body = await request.text();
      sent.push({ path: pathname, body });
      if (broken.some((each) => pathname.includes(each))) return new Response("{}", { status: 500 });
      if (pathname.endsWith("/chat/completions")) {
        const message = { role: "assistant", content: "by chat" };
        return Response.json({
          id: "c",
          model: "v",
          choices: [{ index: 0, message, finish_reason: "stop" }],
        });
      }
      const isStream = JSON.parse(body).stream === true;
      const type = isStream ? "text/event-stream" : "application/json";
      return new Response(isStream ? STREAM : WHOLE, { headers: { "content-type": type } });
    },
  });
  const channel = (path: string, responses: boolean) => ({
    provider: "openai",
    base_url: `${vendor.url.href}${path}/v1`,
    credential: { env: "VENDOR_KEY" },
    settings: { responses },
  });
  const price = { per_million: { input: "1", output: "1" } };
  const model = (...channels: string[]) => ({
    type: "chat",
    max_output_tokens: 1000,
    price,
    route: { targets: channels.map((each) => ({ channel: each })) },
  });
  gateway = await startTestGateway({
    yaml: Bun.YAML.stringify({
      routing: { max_attempts: 3, retry_floor: 1000 },
      channels: { chat: channel("chat-only", false), native: channel("native", true) },
      models: { native: model("native"), either: model("chat", "native"), "chat-only": model("chat") },
    }),
    env: { VENDOR_KEY: "vendor-key" },
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await vendor.stop(true);
});
beforeEach(() => {
  sent = [];
  broken = [];
});

const call = (body: object | string, headers: Record<string, string> = {}) =>
  gateway.call(PATH, { method: "POST", body, headers: { "content-type": "application/json", ...headers } });

test("a vendor of the protocol and its caller see each other's bytes, but for model and store", async () => {
  const raw =
    '{"model":"native" , "input":[{"role":"user","content":"\\u00e9"}],"odd":{"b":1.0,"a":12345678901234567890}, "store":true}';
  const response = await call(raw);
  expect(sent).toEqual([{ path: "/native/v1/responses", body: raw }]);
  expect(await response.text()).toBe(
    WHOLE.replace("vendor-model-1", "native").replace('"store":true', '"store":false'),
  );
  const stream = await call(raw.replace('"store":true', '"store":false,"stream":true'));
  expect(await stream.text()).toBe(
    STREAM.replaceAll("vendor-model-1", "native").replace('"store":true', '"store":false'),
  );
});

test("targets are called as listed, and others take over, by translation or without", async () => {
  const response = (await (await call({ model: "either", input: "hi" })).json()) as { output: object[] };
  expect(response.output).toMatchObject([{ content: [{ type: "output_text", text: "by chat" }] }]);
  broken = ["chat-only"];
  expect(await (await call({ model: "either", input: "hi" })).json()).toMatchObject({ id: "resp_v1" });
  const chat = "/chat-only/v1/chat/completions";
  expect(sent[0]!.path).toBe(chat);
  expect(sent.slice(1).map(({ path }) => path)).toEqual([chat, "/native/v1/responses"]);
});

test("what only a vendor of the protocol can be told goes to that one alone", async () => {
  const response = await call({ model: "either", input: "hi", reasoning: { mode: "pro" } });
  expect(response.status).toBe(200);
  expect(sent.map(({ path }) => path)).toEqual(["/native/v1/responses"]);
  const refused = await call({ model: "chat-only", input: "hi", reasoning: { mode: "pro" } });
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({ error: { param: "reasoning.mode" } });
});

const said = { role: "user", content: "hi" };
const input = (item: object) => ({ model: "chat-only", input: [said, item] });
const result = (...content: object[]) => ({
  model: "chat-only",
  max_tokens: 9,
  messages: [{ role: "user", content: [{ type: "tool_result", tool_use_id: "c", content }] }],
});
const TEXTLESS: [param: string, path: string, body: object][] = [
  ["input[1].tools[0]", PATH, input({ type: "additional_tools", tools: [{ type: "function" }] })],
  ["input[1].tools", PATH, input({ type: "additional_tools" })],
  [
    "tools[0].tools[0]",
    PATH,
    { ...input(said), tools: [{ type: "namespace", name: "n", tools: [{ type: "custom" }] }] },
  ],
  ["input[1].content[0]", PATH, input({ role: "user", content: [{ type: "text" }] })],
  ["messages[0].content[0].content[0].text", "/v1/messages", result({ type: "text" })],
  [
    "messages[0].content[0].content[0].tool_name",
    "/v1/messages",
    result({ type: "tool_reference", tool_name: 7 }),
  ],
  [
    "messages[0].content[0].content[0].source.media_type",
    "/v1/messages",
    result({ type: "image", source: { type: "base64", data: "AA==" } }),
  ],
];

test.each(TEXTLESS)(
  "a request without the text at %s is refused, and no vendor gets a made-up one",
  async (param, path, body) => {
    const response = await gateway.call(path, { body });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(`\`${param}\``)]);
    expect(sent).toEqual([]);
  },
);

test("a vendor that answers a stream with JSON still gives a stream, with every event", async () => {
  const events = readEvents(await (await call({ model: "chat-only", input: "hi", stream: true })).text());
  expect(events.map(({ type }) => type)).toEqual([
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.completed",
  ]);
});

describe("refusals have the protocol's shape and name the field", () => {
  test.each([
    ["a missing key", { input: "x" }, { authorization: "" }, 401, "missing_api_key", null],
    ["a wrong key", { input: "x" }, { authorization: "Bearer gk_no" }, 401, "authentication_required", null],
    ["no model", { input: "x", model: null }, {}, 400, "model_required", "model"],
    ["an unknown model", { input: "x", model: "no" }, {}, 400, "model_not_available_for_routing", "model"],
    ["a provider", { input: "x", provider: "a" }, {}, 400, "provider_not_allowed", "provider"],
    ["a provider header", { input: "x" }, { "x-provider": "a" }, 400, "provider_not_allowed", "provider"],
    ["no input", {}, {}, 400, "invalid_parameter", "input"],
    [
      "an earlier response",
      { input: "x", previous_response_id: "r" },
      {},
      400,
      "unsupported_parameter",
      "previous_response_id",
    ],
    [
      "a tool at the vendor",
      { input: "x", tools: [{ type: "mcp" }] },
      {},
      400,
      "unsupported_parameter",
      "tools[0].type",
    ],
    ["another type", { input: "x" }, { "content-type": "text/plain" }, 415, "unsupported_media_type", null],
  ])("%s", async (_, body, headers, status, code, param) => {
    const response = await call({ model: "native", ...body }, headers as Record<string, string>);
    expect(response.status).toBe(status);
    const { error, ...rest } = (await response.json()) as { error: Record<string, unknown> };
    expect(rest).toEqual({});
    expect(Object.keys(error).sort()).toEqual(["code", "message", "param", "type"]);
    expect(error).toMatchObject({ code, param });
    expect(sent).toEqual([]);
  });

  test.each([
    ["GET", "/v1/responses/resp_1"],
    ["DELETE", "/v1/responses/resp_1"],
    ["POST", "/v1/responses/resp_1/cancel"],
    ["GET", "/v1/responses/resp_1/input_items"],
    ["POST", "/v1/responses/compact"],
  ])("%s %s is not found, with a reason", async (method, path) => {
    const response = await gateway.call(path, { method });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      error: { code: "not_found", type: "invalid_request_error" },
    });
  });
});

test("headers tell the request's id", async () => {
  const response = await call({ model: "native", input: "hi" }, { "x-request-id": "mine-1" });
  expect(response.headers.get("x-request-id")).toBe("mine-1");
  expect(response.headers.get("x-gateway-request-id")).toBe("mine-1");
  const [row] = await gateway.charged("mine-1");
  expect(row).toMatchObject({ model: "native", consumed: { tokens: { input: 3, output: 5 } } });
});
