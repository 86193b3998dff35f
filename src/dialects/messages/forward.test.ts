import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { jsonText } from "../../../test/support/json-texts.ts";
import { policyFor } from "../../../test/support/usage-policy.ts";
import { ERROR_CODES, type ErrorCode } from "../../domain/error-codes.table.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { WholeStream } from "../conversation/whole-stream.ts";
import { messages, readRequest, writeError } from "./index.ts";

const USAGE = '{"input_tokens":10,"cache_read_input_tokens":4,"output_tokens":9,"server_tool_use":null}';
const read = (text: string) => messages.readReply({ text }, "public", policyFor(70));
const whole = (usage: string, content = '[{"type":"text","text":"Hello there"}]') =>
  `{"id":"msg_1","type":"message","model":"vendor-model","content":${content},"usage":${usage}}`;

test("a whole reply passes character for character but for the model's name", () => {
  const property = fc.property(jsonText, jsonText, (input, extra) => {
    const content = `[ {"type":"hologram","model":"x","beam":${extra}},{"type":"tool_use","id":"a","name":"f","input":{"v":${input}}}]`;
    const text = (model: string, more = "") =>
      `{ "model":"${model}","content" : ${content} ,${more}"extra":${extra}, "usage" :${USAGE}}`;
    const sent = text("vendor-model", '"provider":"Vendor",');
    expect(read(sent).text).toBe(text("public"));
    expect(read(text("public")).text).toBe(text("public"));
  });
  fc.assert(property, { numRuns: 500 });
});

describe("the usage of a whole reply", () => {
  describe("has the searches that were delivered", () => {
    const found = '{"type":"web_search_tool_result","tool_use_id":"s","content":[]}';
    const failed =
      '{"type":"web_search_tool_result","tool_use_id":"s","content":{"type":"web_search_tool_result_error","error_code":"unavailable"}}';
    const content = `[${found},${failed},${found},{"type":"text","text":"Hello"}]`;
    const policy = policyFor(70, { web_search: 5 });
    const asked = {
      model: "public",
      max_tokens: 9,
      stream: true,
      messages: [{ role: "user", content: "hi" }],
    };
    const payload = readRequest(Buffer.from(JSON.stringify(asked)), new Headers());

    test.each([
      ["that does not name them", "", 2, { source: "estimated" }],
      ["with none", ',"server_tool_use":{"web_search_requests":0}', 2, { source: "estimated" }],
      ["with fewer", ',"server_tool_use":{"web_search_requests":1}', 2, { anomalous: true }],
      ["with as many", ',"server_tool_use":{"web_search_requests":2}', 2, { source: "upstream" }],
      ["with more", ',"server_tool_use":{"web_search_requests":3}', 3, { anomalous: true }],
    ])("in a report %s", (_, counts, web_search, flags) => {
      const text = whole(`{"input_tokens":10,"output_tokens":9${counts}}`, content);
      const reply = messages.readReply({ text }, "public", policy);
      expect(reply.usage).toMatchObject({ uses: { web_search }, tokens: { input: 10, output: 9 }, ...flags });
      expect(JSON.parse(reply.text).usage.server_tool_use).toMatchObject({ web_search_requests: web_search });
      // The vendor may send a complete reply when a stream was requested.
      const stream = new WholeStream(messages.parseReply({ text }), messages.replyWriter(payload), policy);
      stream.push();
      expect(stream.usage()).toEqual(reply.usage);
      expect(stream.end().toString()).toContain(`"web_search_requests":${web_search}`);
    });
  });

  test("is billed by category, each token once", () => {
    const usage =
      '{"input_tokens":10,"cache_creation_input_tokens":7,"cache_read_input_tokens":4,"cache_creation":{"ephemeral_5m_input_tokens":2,"ephemeral_1h_input_tokens":5},"output_tokens":9,"output_tokens_details":{"thinking_tokens":6}}';
    expect(read(whole(usage)).usage).toEqual({
      unit: "token",
      source: "upstream",
      tokens: { input: 10, cacheRead: 4, cacheWrite: 2, cacheWrite1h: 5, output: 3, reasoning: 6 },
    });
  });

  test("has the sum of what was written to the cache, where the vendor gives the split alone", () => {
    const usage = '{"input_tokens":10,"cache_creation":{"ephemeral_1h_input_tokens":5},"output_tokens":9}';
    const reply = read(whole(usage));
    expect(reply.usage).toMatchObject({ source: "upstream", tokens: { input: 10, cacheWrite1h: 5 } });
    expect(JSON.parse(reply.text).usage).toMatchObject({ cache_creation_input_tokens: 5 });
  });

  test.each([
    ["null", '"input_tokens":70', '"output_tokens":3'],
    ['{"input_tokens":-1,"output_tokens":1.5,"note":1.0}', '"input_tokens":70', '"note":1.0'],
    [
      '{"input_tokens":1e308,"output_tokens":9,"cache_creation":{"x":1}}',
      '"input_tokens":70',
      '"ephemeral_5m_input_tokens":0',
    ],
    ['{"input_tokens":10,"output_tokens":0,"iterations":[]}', '"input_tokens":10', '"output_tokens":3'],
  ])("of %s is corrected where the caller sees it", (usage, one, other) => {
    const { text, usage: billed } = read(whole(usage));
    for (const shown of [one, other]) expect(text).toContain(shown);
    expect(billed.source).toBe("estimated");
    expect(JSON.parse(text).model).toBe("public");
  });
});

test.each([
  ["an error", '{"type":"error","error":{"type":"overloaded_error","message":"x"}}', "overloaded"],
  ["no JSON", "<html>", "broken"],
  ["no message", '{"choices":[]}', "broken"],
  ["no block", whole(USAGE, "[null]"), "broken"],
  ["a block without a type", whole(USAGE, "[{}]"), "broken"],
  ["a text block without text", whole(USAGE, '[{"type":"text"}]'), "broken"],
  ["a call without an id", whole(USAGE, '[{"type":"tool_use","name":"f","input":{}}]'), "broken"],
  ["a call without a name", whole(USAGE, '[{"type":"tool_use","id":"a","input":{}}]'), "broken"],
])("%s is a failure of the vendor", (_, text, kind) => {
  for (const act of [() => read(text), () => messages.parseReply({ text })]) {
    expect(act).toThrow(UpstreamError);
    expect(act).toThrow(expect.objectContaining({ kind }));
  }
});

test("every error has a type that official clients know", () => {
  const known = new Set([
    "invalid_request_error",
    "authentication_error",
    "permission_error",
    "not_found_error",
    "request_too_large",
    "rate_limit_error",
    "api_error",
    "overloaded_error",
  ]);
  for (const [code, { status, kind }] of Object.entries(ERROR_CODES)) {
    const body = writeError(new GatewayError(code as ErrorCode, "No."), "req_1");
    if (kind === "access") expect(body).toEqual({ error: { type: code, message: "No." } });
    else {
      expect(body).toEqual({
        type: "error",
        error: { type: body.error.type, message: "No." },
        request_id: "req_1",
      });
      expect(known).toContain(body.error.type);
      if (status >= 500) expect(body.error.type).toMatch(/^(api|overloaded)_error$/);
      if (status === 429) expect(body.error.type).toBe("rate_limit_error");
      if (status === 400 || status === 402) expect(body.error.type).toBe("invalid_request_error");
    }
  }
});
