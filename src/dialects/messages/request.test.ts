import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { jsonText } from "../../../test/support/json-texts.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import type { VendorTerms } from "../dialect.ts";
import { writeError } from "./error.ts";
import { messages, readCountRequest, readRequest } from "./index.ts";

const read = (raw: string, headers = {}) => readRequest(Buffer.from(raw), new Headers(headers));
const BODY = { model: "public", max_tokens: 100, messages: [{ role: "user", content: "hi" }] };
const readBody = (change: object) => read(JSON.stringify({ ...BODY, ...change })).parsed;
const user = (...content: unknown[]) => ({ messages: [{ role: "user", content }] });
const terms: VendorTerms = {
  upstreamModel: "vendor/model",
  traits: {},
  coveredTokens: null,
  model: { id: "public", maxOutputTokens: 100 },
};

test("5,000 bodies in any spelling go to a vendor of the protocol unchanged but for the model name", () => {
  const members = fc.array(fc.tuple(fc.constantFrom("a", "b", "metadata2", "x\\u0079z"), jsonText), {
    maxLength: 4,
  });
  const property = fc.property(members, jsonText, fc.nat(4), (extra, input, at) => {
    const rest = [...new Map(extra)].map(([name, value]) => `"${name}" : ${value}`);
    const content = `[{"type":"tool_use","id":"a","name":"f","input":{"v":${input}}}]`;
    const own = `"messages":[{"role":"user","content":"q"},{ "role":"assistant", "content":${content} }],"max_tokens":100`;
    const text = (model: string) =>
      `{ ${[...rest.slice(0, at), `"model":\t"${model}"`, own, ...rest.slice(at)].join(" ,\n")} }`;
    expect(messages.forVendor(read(text("public")), terms)).toBe(text("vendor/model"));
    expect(messages.forVendor(read(text("public")), { ...terms, upstreamModel: "public" })).toBe(
      text("public"),
    );
  });
  fc.assert(property, { numRuns: 5_000 });
});

test("the input of a call is read character for character", () => {
  const property = fc.property(fc.array(jsonText, { minLength: 1, maxLength: 3 }), (inputs) => {
    const blocks = inputs.map((each) => `{"input": {"v":${each}} ,"type":"tool_use","id":"a","name":"f"}`);
    const raw = `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[${blocks.join(" ,")}]}]}`;
    const [, turn] = messages.readConversation(read(raw)).turns;
    expect(turn!.parts.map((part) => part.type === "tool_call" && part.arguments)).toEqual(
      inputs.map((each) => `{"v":${each}}`),
    );
  });
  fc.assert(property, { numRuns: 500 });
});

describe("a request", () => {
  test("says what the gateway needs to know", () => {
    expect(readBody({ stream: true })).toMatchObject({
      model: "public",
      isStream: true,
      maxTokens: 100,
      choices: 1,
      features: [],
      linkParam: null,
    });
  });

  const wrong: [string, object, string][] = [
    ["model", { model: undefined }, "model_required"],
    ["max_tokens", { max_tokens: undefined }, "invalid_parameter"],
    ["max_tokens", { max_tokens: null }, "invalid_parameter"],
    ["max_tokens", { max_tokens: "5" }, "invalid_parameter"],
    ["max_tokens", { max_tokens: 0 }, "invalid_parameter"],
    ["max_tokens", { max_tokens: 1.5 }, "invalid_parameter"],
    ["messages", { messages: [] }, "invalid_parameter"],
    ["messages", { messages: [{ content: "a" }] }, "invalid_parameter"],
    ["messages[0].content", { messages: [{ role: "user" }] }, "invalid_parameter"],
    ["messages[0].content[0]", user("a"), "invalid_parameter"],
    ["messages[0].content[0]", user({ type: "text" }), "invalid_parameter"],
    ["messages[0].content[0]", user({ type: "image" }), "invalid_parameter"],
    ["messages[0].content[0]", user({ type: "tool_result" }), "invalid_parameter"],
    [
      "messages[0].content[0]",
      user({ type: "tool_use", id: "a", name: "f", input: "{}" }),
      "invalid_parameter",
    ],
    ["stream", { stream: "true" }, "invalid_parameter"],
    ["system", { system: 1 }, "invalid_parameter"],
    ["system[0]", { system: ["a"] }, "invalid_parameter"],
    ["temperature", { temperature: "1" }, "invalid_parameter"],
    ["stop_sequences", { stop_sequences: "a" }, "invalid_parameter"],
    ["tools", { tools: {} }, "invalid_parameter"],
    ["tools[0]", { tools: [{ name: "f" }] }, "invalid_parameter"],
    ["tool_choice", { tool_choice: "auto" }, "invalid_parameter"],
    ["tool_choice.name", { tool_choice: { type: "tool" } }, "invalid_parameter"],
    ["thinking.budget_tokens", { thinking: { type: "enabled" } }, "invalid_parameter"],
    ["thinking.budget_tokens", { thinking: { type: "enabled", budget_tokens: 100 } }, "invalid_parameter"],
    ["provider", { provider: null }, "provider_not_allowed"],
    ["Model", { Model: "a" }, "invalid_parameter"],
    ["MAX_TOKENS", { MAX_TOKENS: 5 }, "invalid_parameter"],
    ["thinking.Budget_Tokens", { thinking: { type: "adaptive", Budget_Tokens: 5 } }, "invalid_parameter"],
    [
      "messages[0].Content",
      { messages: [{ role: "user", content: "a", Content: "b" }] },
      "invalid_parameter",
    ],
    [
      "messages[0].content[0].source.url",
      user({ type: "image", source: { type: "url", url: "http://127.0.0.1/a" } }),
      "image_url_not_allowed",
    ],
    [
      "messages[0].content[0].content[0].source.url",
      user({
        type: "tool_result",
        tool_use_id: "a",
        content: [{ type: "image", source: { type: "url", url: "https://10.0.0.1/a" } }],
      }),
      "image_url_not_allowed",
    ],
  ];
  test.each(wrong)("with a wrong %s is refused by name: %j", (param, change, code) => {
    const error = failureOf(() => readBody(change));
    expect(error).toMatchObject({ code, param });
    expect(error.message).toContain(param.replace(/^.*\./, ""));
  });

  test("that begins or continues a thread is refused, so that the client sends the whole history", () => {
    for (const thread of [{ type: "create" }, { type: "continue", previous_message_id: "msg_1" }]) {
      const error = failureOf(() => readBody({ thread }));
      expect(writeError(error, "req_1")).toMatchObject({
        error: {
          type: "invalid_request_error",
          details: { error_code: "thread_unsupported_request", unsupported: ["thread"] },
        },
      });
    }
    expect(readBody({ thread: null }).model).toBe("public");
  });

  test("that names a field twice is refused", () => {
    const raw = JSON.stringify(BODY).replace("{", '{"max_tokens":5,');
    expect(failureOf(() => read(raw)).code).toBe("invalid_request_body");
  });

  test.each<[string, string, object]>([
    ["web_search", "tools[0].type", { tools: [{ type: "web_search_20260101", name: "web_search" }] }],
    ["web_fetch", "tools[0].type", { tools: [{ type: "web_fetch_20260101", name: "web_fetch" }] }],
    ["code_execution", "tools[0].type", { tools: [{ type: "code_execution_20260101", name: "x" }] }],
    ["mcp_servers", "mcp_servers", { mcp_servers: [{ type: "url", url: "https://a.example" }] }],
    ["container", "container", { container: "c" }],
    ["service_tier", "service_tier", { service_tier: "priority" }],
    ["speed", "speed", { speed: "fast" }],
    ["inference_geo", "inference_geo", { inference_geo: "us" }],
    [
      "file_id",
      "messages[0].content[0].source.file_id",
      user({ type: "image", source: { type: "file", file_id: "f" } }),
    ],
    ["file_id", "messages[0].content[0].file_id", user({ type: "container_upload", file_id: "f" })],
  ])("with %s in %s is one with a feature", (feature, param, change) => {
    expect(readBody(change).features).toEqual([{ feature, param } as never]);
  });

  test("with tools that run at the caller is one without a feature", () => {
    const types = ["bash_20250124", "text_editor_20250728", "memory_20250818", "computer_20260801", "custom"];
    const tools = types.map((type) => ({ type, name: "f", input_schema: {} }));
    expect(readBody({ tools, service_tier: "standard_only", mcp_servers: [] }).features).toEqual([]);
  });

  test("with a link has its field, and counts media by their kind", () => {
    const link = { type: "url", url: "https://pictures.example/a.png" };
    expect(readBody(user({ type: "image", source: link })).linkParam).toBe(
      "messages[0].content[0].source.url",
    );
    const data = "A".repeat(1_000_000);
    const inline = readBody(
      user({ type: "image", source: { type: "base64", media_type: "image/png", data } }),
    );
    expect(inline.inputCeiling).toBeLessThan(20_000);
    expect(inline.estimatedInput).toBeLessThan(3_000);
    expect(inline.linkParam).toBeNull();
  });

  test("sends on the headers of the protocol, and no other", () => {
    const headers = new Headers({ "anthropic-version": "2026-10-21", "x-api-key": "gk_1", cookie: "a" });
    headers.append("anthropic-beta", "one-2026-01-01");
    headers.append("anthropic-beta", "two-2026-01-01,three-2026-01-01");
    expect(readRequest(Buffer.from(JSON.stringify(BODY)), headers).headers).toEqual({
      "anthropic-version": "2026-10-21",
      "anthropic-beta": "one-2026-01-01, two-2026-01-01,three-2026-01-01",
    });
  });
});

test("thinking of other protocols goes to no vendor of this one, and everything else stays as it is", () => {
  const own = '{"type":"thinking","thinking":"a","signature":"sig"}';
  const empty = '{ "type":"thinking", "thinking":"b", "signature":"" }';
  const call = '{"type":"tool_use","id":"a","name":"f","input":{"n":12345678901234567890,"s":"gw-chat-x"}}';
  const foreign = ["gw-chat-x", "gw-unsigned", "gw-native-y"].map(
    (signature) => `{"type":"thinking","thinking":"c","signature":"${signature}"}`,
  );
  const data = '{"type":"redacted_thinking","data":"gw-call-gw-native-z"}';
  const text = (...contents: string[][]) =>
    `{"model":"public", "max_tokens":9,"messages":[{"role":"user","content":"gw-"},${contents
      .map((blocks) => `{"role":"assistant", "content":[${blocks.join(",")}]}`)
      .join(" ,")}]}`;
  const raw = text([own, foreign[0]!, empty, data, call], [foreign[1]!, foreign[2]!], [own, call]);
  const nothing = '{"type":"text","text":"(Nothing was said.)"}';
  const expected = text([own, empty, call], [nothing], [own, call]);
  expect(messages.forVendor(read(raw), { ...terms, upstreamModel: "public" })).toBe(expected);
  expect(messages.forVendor(read(raw), terms)).toBe(expected.replace('"public"', '"vendor/model"'));
});

test("a request that only counts needs no maximum", () => {
  const { max_tokens: _, ...body } = BODY;
  expect(readCountRequest(Buffer.from(JSON.stringify(body)), new Headers()).parsed.maxTokens).toBeNull();
});

function failureOf(act: () => unknown): GatewayError {
  try {
    act();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error("it was accepted");
}
