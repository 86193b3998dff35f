import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";

/* Paid features, objects of the operator, and links in chat requests: forwarded and refused ones. */
const PATH = "/v1/chat/completions";
const USER = { role: "user", content: "hi" };
const TEXT_PRICE = { per_million: { input: "1", output: "1" } };
const TEXT = { type: "chat", max_output_tokens: 1000, price: TEXT_PRICE };

let gateway: TestGateway;
let vendor: Bun.Server<undefined>;
let sent: string[] = [];

beforeAll(async () => {
  vendor = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      sent.push(await request.text());
      const message = { role: "assistant", content: "hello" };
      return Response.json({ id: "c", model: "v", choices: [{ index: 0, message, finish_reason: "stop" }] });
    },
  });
  const channel = { provider: "openai", base_url: `${vendor.url.href}v1`, credential: { env: "VENDOR_KEY" } };
  const route = (...channels: string[]) => ({ targets: channels.map((each) => ({ channel: each })) });
  gateway = await startTestGateway({
    yaml: Bun.YAML.stringify({
      channels: { cloud: channel, own: { ...channel, own_server: true } },
      models: {
        plain: { ...TEXT, route: route("cloud") },
        generous: {
          ...TEXT,
          price: { ...TEXT_PRICE, per_use: { web_search: "0" } },
          route: route("cloud"),
          allowed_features: ["service_tier", "file_id", "web_search", "models", "audio_output"],
        },
        searching: {
          ...TEXT,
          price: { ...TEXT_PRICE, per_use: { web_search: "0.01" } },
          route: route("cloud"),
          allowed_features: ["web_search"],
        },
        homely: { ...TEXT, route: route("own") },
        either: { ...TEXT, route: route("own", "cloud") },
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

async function refusal(path: string, body: object | string) {
  const headers = { "content-type": "application/json" };
  const response = await gateway.call(path, { body, headers });
  const { error } = (await response.json()) as { error: Record<string, unknown> };
  expect(sent).toEqual([]);
  return { status: response.status, code: error["code"], param: error["param"] };
}

const refused = (code: string, param: string) => ({ status: 400, code, param });
const chat = (fields: object, model = "plain") => ({ model, messages: [USER], ...fields });
const withPart = (part: object, model = "plain") => ({
  model,
  messages: [{ role: "user", content: [part] }],
});
const picture = (url: string) => ({ type: "image_url", image_url: { url } });

describe("a feature that the model's record does not allow is refused", () => {
  test.each<[string, object]>([
    ["service_tier", { service_tier: "priority" }],
    ["service_tier", { service_tier: ["flex"] }],
    ["web_search_options", { web_search_options: {} }],
    ["search_parameters", { search_parameters: { mode: "on" } }],
    ["models", { models: ["another"] }],
    ["plugins", { plugins: [{ id: "web" }] }],
    ["enable_search", { enable_search: true }],
    ["modalities", { modalities: ["text", "audio"], audio: { voice: "v", format: "wav" } }],
    ["modalities", { modalities: "AUDIO" }],
    ["tools[0].type", { tools: [{ type: "web_search", web_search: {} }] }],
    ["tools[0].type", { tools: [{ type: "relay:web_search" }] }],
    ["tools[0].type", { tools: [{ type: "retrieval", retrieval: { knowledge_id: "1" } }] }],
  ])("%s in %j", async (param, fields) => {
    expect(await refusal(PATH, chat(fields))).toEqual(refused("unsupported_parameter", param));
  });

  test.each<[string, object]>([
    ["file.file_id", { type: "file", file: { file_id: "file-1" } }],
    ["file_id", { type: "input_file", file_id: "file-1" }],
    ["image_url.file_id", { ...picture("data:,"), image_url: { url: "data:,", file_id: "file-1" } }],
  ])("a file id in a part as %s", async (field, part) => {
    const param = `messages[0].content[0].${field}`;
    expect(await refusal(PATH, withPart(part))).toEqual(refused("unsupported_parameter", param));
  });
});

test("features of the ordinary price and those that the record allows are forwarded byte for byte", async () => {
  for (const body of [
    ...["auto", "default", "standard", "standard_only", null].map((tier) => chat({ service_tier: tier })),
    chat({ store: true, user: "u", tools: [{ type: "function", function: { name: "f" } }], models: null }),
    chat({ modalities: ["text", "image"], enable_search: false }),
    chat({ service_tier: "flex", models: ["b"], tools: [{ type: "web_search" }] }, "generous"),
    chat({ modalities: ["text", "audio"], enable_search: true }, "generous"),
    withPart({ type: "file", file: { file_id: "file-1" } }, "generous"),
  ]) {
    const text = ` ${JSON.stringify(body)}`;
    const headers = { "content-type": "application/json" };
    const response = await gateway.call(PATH, { body: text, headers });
    expect({ status: response.status, text: sent.pop() }).toEqual({ status: 200, text });
  }
});

test("a feature with a price of a use is refused where the vendor's protocol does not report its uses", async () => {
  const fields = { tools: [{ type: "web_search" }] };
  expect(await refusal(PATH, chat(fields, "searching"))).toEqual(
    refused("invalid_parameter", "tools[0].type"),
  );
  expect((await gateway.call(PATH, { body: chat({}, "searching") })).status).toBe(200);
});

describe("a name that differs only in case from one that is read is refused", () => {
  test.each<[string, string]>([
    ["MODEL", '"MODEL":"other"'],
    ["Max_Tokens", '"Max_Tokens":100000'],
    ["me\u017f\u017fages", '"me\u017f\u017fages":[]'],
    ["me\u017f\u017fages", '"me\\u017f\\u017fages":[]'],
    ["max_to\u212Aens", '"max_to\u212Aens":100000'],
    ["Service_Tier", '"Service_Tier":"priority"'],
    ["stream_options.Include_Usage", '"stream_options":{"Include_Usage":false}'],
  ])("%s on chat", async (param, field) => {
    const body = `{"model":"plain","max_tokens":1,"messages":[{"role":"user","content":"hi"}],${field}}`;
    expect(await refusal(PATH, body)).toEqual(refused("invalid_parameter", param));
  });

  test("nested on chat", async () => {
    const message = { ...USER, Content: "other" };
    expect(await refusal(PATH, chat({ messages: [message] }))).toEqual(
      refused("invalid_parameter", "messages[0].Content"),
    );
    const part = { type: "image_url", image_url: { url: "data:,", URL: "http://10.0.0.1/" } };
    expect(await refusal(PATH, withPart(part))).toEqual(
      refused("invalid_parameter", "messages[0].content[0].image_url.URL"),
    );
  });

  test.each(["MODEL", "Prompt", "aspectratio", "IMAGE"])("%s on images", async (name) => {
    const body = { model: "sandbox-a", prompt: "a", [name]: "x" };
    expect(await refusal("/v1/images/generations", body)).toEqual(refused("invalid_parameter", name));
  });
});

describe("the native protocol", () => {
  const native = async (fields: object) => {
    const body = { contents: [{ parts: [{ text: "a boat" }] }], ...fields };
    const response = await gateway.call("/v1beta/models/sandbox-b-lite:generateContent", { body });
    const { error } = (await response.json()) as { error?: { message: string; details: unknown } };
    return { status: response.status, message: error?.message ?? "", details: error?.details };
  };

  test.each<[string, string, object]>([
    ["tools[0].googleSearch", "unsupported_parameter", { tools: [{ googleSearch: {} }] }],
    ["tools[0].url_context", "unsupported_parameter", { tools: [{ url_context: {} }] }],
    ["tools[0].codeExecution", "unsupported_parameter", { tools: [{ codeExecution: {} }] }],
    ["tools[1].fileSearch", "unsupported_parameter", { tools: [{}, { fileSearch: {} }] }],
    ["tools[0].retrieval", "unsupported_parameter", { tools: [{ retrieval: {} }] }],
    ["tools[0].unheardOf", "unsupported_parameter", { tools: [{ unheardOf: {} }] }],
    ["serviceTier", "unsupported_parameter", { serviceTier: "priority" }],
    ["service_tier", "unsupported_parameter", { service_tier: "flex" }],
    [
      "generationConfig.responseModalities",
      "unsupported_parameter",
      { generationConfig: { responseModalities: ["IMAGE", "AUDIO"] } },
    ],
    ["Tools", "invalid_parameter", { Tools: [{ googleSearch: {} }] }],
    ["generationconfig", "invalid_parameter", { generationconfig: {} }],
    ["generationConfig.CandidateCount", "invalid_parameter", { generationConfig: { CandidateCount: 4 } }],
  ])("refuses %s", async (param, code, fields) => {
    const answer = await native(fields);
    expect(answer).toMatchObject({ status: 400, details: [{ reason: code }] });
    expect(answer.message).toContain(
      `\`${code === "unsupported_parameter" ? param : param.split(".").pop()}\``,
    );
  });

  test("takes declared functions and the ordinary tier", async () => {
    const tools = [{ functionDeclarations: [{ name: "f" }] }];
    expect(await native({ tools, serviceTier: "standard" })).toMatchObject({ status: 200 });
  });
});

describe("a link in chat", () => {
  test.each([
    "http://169.254.169.254/latest/meta-data/",
    "https://169.254.169.254/latest/meta-data/",
    "file:///etc/passwd",
    "https://localhost/a.png",
    "https://user:pass@example.com/a.png",
    "gs://bucket/a.png",
    "HTTP://10.0.0.1/",
    "/etc/passwd",
    `https://example.com/${"a".repeat(9000)}`,
  ])("is refused: %s", async (url) => {
    expect(await refusal(PATH, withPart(picture(url)))).toEqual(
      refused("image_url_not_allowed", "messages[0].content[0].image_url.url"),
    );
  });

  test.each<[string, object]>([
    ["video_url.url", { type: "video_url", video_url: { url: "http://10.0.0.1/" } }],
    ["video_url", { type: "video_url", video_url: "file:///etc/passwd" }],
    ["file.file_data", { type: "file", file: { file_data: "http://10.0.0.1/" } }],
  ])("is refused in %s too", async (field, part) => {
    expect(await refusal(PATH, withPart(part))).toEqual(
      refused("image_url_not_allowed", `messages[0].content[0].${field}`),
    );
  });

  test.each(["https://example.com/a.png", "data:image/png;base64,AAAA"])("passes: %s", async (url) => {
    const body = withPart(picture(url));
    expect((await gateway.call(PATH, { body })).status).toBe(200);
    expect(sent).toEqual([JSON.stringify(body)]);
  });

  test("is never sent to the operator's own server; another target is called", async () => {
    const link = picture("https://example.com/a.png");
    expect(await refusal(PATH, withPart(link, "homely"))).toEqual(
      refused("invalid_parameter", "messages[0].content[0].image_url.url"),
    );
    expect((await gateway.call(PATH, { body: withPart(link, "either") })).status).toBe(200);
    expect(sent).toHaveLength(1);
    expect((await gateway.call(PATH, { body: withPart(picture("data:,"), "homely") })).status).toBe(200);
  });
});
