import fc from "fast-check";
import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../domain/gateway-error.ts";
import type { VendorTerms } from "../dialect.ts";
import { forVendor } from "./forward.ts";
import { readRequest } from "./request.ts";

function terms(upstreamModel: string): VendorTerms {
  return { upstreamModel, traits: {}, coveredTokens: null, model: { id: "m", maxOutputTokens: 100 } };
}

const MESSAGES = [{ role: "user", content: "hi" }];

const TEXT = { type: "text", text: "x" };
const TOOL = { type: "function", function: { name: "f", description: "d", parameters: { type: "object" } } };
const userMessage = (content: unknown) => ({ role: "user", content });

const bytesOf = (body: unknown): Uint8Array<ArrayBuffer> =>
  new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body));
const read = (body: unknown) => readRequest(bytesOf(body));

function refusal(body: unknown): { code: string; param: string | null } {
  try {
    read(body);
  } catch (error) {
    if (error instanceof GatewayError) return { code: error.code, param: error.param };
    throw error;
  }
  throw new Error("it was taken");
}

describe("reading a request", () => {
  test("reads what the gateway decides by", () => {
    const { raw, parsed } = read({
      model: "m",
      messages: MESSAGES,
      stream: true,
      n: 2,
      max_tokens: 9,
      seed: 4,
    });
    expect(parsed).toMatchObject({ model: "m", isStream: true, choices: 2, maxTokens: 9 });
    expect(parsed.inputCeiling).toBe(raw.length);
    expect(read({ model: "m", messages: MESSAGES }).parsed).toMatchObject({
      isStream: false,
      choices: 1,
      maxTokens: null,
    });
  });

  test("of two output maximums the larger one counts, as vendors differ in which they obey", () => {
    expect(
      read({ model: "m", messages: MESSAGES, max_tokens: 9, max_completion_tokens: 7 }).parsed.maxTokens,
    ).toBe(9);
  });

  test.each([
    [{ n: 2 }, 2],
    [{ best_of: 5 }, 5],
    [{ n: 2, best_of: 5 }, 5],
    [{ n: 3, best_of: 1 }, 3],
  ])("%j is as many choices as a vendor may bill: %i", (fields, choices) => {
    const body = { model: "m", messages: [{ role: "user", content: "x" }], ...fields };
    expect(readRequest(Buffer.from(JSON.stringify(body))).parsed.choices).toBe(choices);
  });

  test("an inline image counts a fixed number, a linked one besides its link", () => {
    const url = `data:image/png;base64,${"A".repeat(100_000)}`;
    const imageRequest = (link: string) =>
      read({
        model: "m",
        messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: link } }] }],
      });
    expect(imageRequest(url).parsed.inputCeiling).toBeWithin(12_288, 12_600);
    expect(imageRequest("https://e.example/a.png").parsed.inputCeiling).toBeGreaterThan(12_288);
    expect(imageRequest(url).parsed.estimatedInput).toBeWithin(1_536, 1_600);
  });

  test.each([
    ["ASCII text", "a".repeat(4_000), 1_000],
    ["CJK text", "世".repeat(1_000), 1_000],
    ["audio", [{ type: "input_audio", input_audio: { data: "A".repeat(64_000), format: "wav" } }], 1_000],
    ["a document", [{ type: "file", file: { file_data: "A".repeat(64_000) } }], 1_000],
  ])("the input of %s is estimated", (_, content, tokens) => {
    const { parsed } = read({ model: "m", messages: [{ role: "user", content }] });
    expect(parsed.estimatedInput).toBeWithin(tokens, tokens + 50);
    expect(parsed.inputCeiling).toBeGreaterThan(parsed.estimatedInput);
  });

  test("null stands for an absent field", () => {
    expect(
      read({ model: "m", messages: MESSAGES, stream: null, max_tokens: null, tools: null }).parsed.isStream,
    ).toBe(false);
  });
});

test("parts and tools of undocumented kinds are left to the vendor", () => {
  const messages = [
    userMessage([TEXT, { type: "input_audio", input_audio: { data: "AA==", format: "wav" } }]),
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c", type: "function", function: { name: "f" } }],
    },
    { role: "assistant", tool_calls: [] },
    { role: "tool", tool_call_id: "c", content: "4" },
  ];
  const tools = [
    TOOL,
    { type: "function", function: { name: "bare" } },
    { type: "custom", custom: { name: "c" } },
  ];
  expect(read({ model: "m", messages, tools }).parsed.body).toEqual({ model: "m", messages, tools });
});

describe("a request is refused", () => {
  test.each([
    ["nonsense", "invalid_request_body", null],
    ["[]", "invalid_request_body", null],
    ["null", "invalid_request_body", null],
    ['{"model":"a","model":"b"}', "invalid_request_body", null],
    [`{"model":"m","x":${"[".repeat(200)}${"]".repeat(200)}}`, "invalid_request_body", null],
    [{ messages: MESSAGES }, "model_required", "model"],
    [{ model: "", messages: MESSAGES }, "model_required", "model"],
    [{ model: 3, messages: MESSAGES }, "model_required", "model"],
    [{ model: null, messages: MESSAGES }, "model_required", "model"],
    [{ model: "m", messages: MESSAGES, provider: null }, "provider_not_allowed", "provider"],
    [{ model: "m" }, "invalid_parameter", "messages"],
    [{ model: "m", messages: [] }, "invalid_parameter", "messages"],
    [{ model: "m", messages: [{ content: "x" }] }, "invalid_parameter", "messages"],
    [{ model: "m", messages: MESSAGES, stream: "true" }, "invalid_parameter", "stream"],
    [{ model: "m", messages: MESSAGES, max_tokens: 0 }, "invalid_parameter", "max_tokens"],
    [{ model: "m", messages: MESSAGES, max_tokens: 1.5 }, "invalid_parameter", "max_tokens"],
    [{ model: "m", messages: MESSAGES, n: -1 }, "invalid_parameter", "n"],
    [{ model: "m", messages: MESSAGES, stop: [1] }, "invalid_parameter", "stop"],
    [{ model: "m", messages: MESSAGES, tools: {} }, "invalid_parameter", "tools"],
    [{ model: "m", messages: [...MESSAGES, userMessage(5)] }, "invalid_parameter", "messages[1].content"],
    [{ model: "m", messages: [userMessage({ text: "x" })] }, "invalid_parameter", "messages[0].content"],
    [{ model: "m", messages: [userMessage(["x"])] }, "invalid_parameter", "messages[0].content[0]"],
    [{ model: "m", messages: [userMessage([{ text: "x" }])] }, "invalid_parameter", "messages[0].content[0]"],
    [
      { model: "m", messages: [userMessage([TEXT, { type: "text", text: 5 }])] },
      "invalid_parameter",
      "messages[0].content[1]",
    ],
    [
      { model: "m", messages: [userMessage([{ type: "image_url", image_url: "https://e.example/a.png" }])] },
      "invalid_parameter",
      "messages[0].content[0]",
    ],
    [{ model: "m", messages: MESSAGES, tools: [TOOL, 5] }, "invalid_parameter", "tools[1]"],
    [{ model: "m", messages: MESSAGES, tools: [{ type: "function" }] }, "invalid_parameter", "tools[0]"],
    [
      {
        model: "m",
        messages: MESSAGES,
        tools: [{ type: "function", function: { name: "f", parameters: "x" } }],
      },
      "invalid_parameter",
      "tools[0]",
    ],
  ])("%j: %s", (body, code, param) => {
    expect(refusal(body)).toEqual({ code: code as GatewayError["code"], param });
  });

  test("for bytes that are not UTF-8", () => {
    const bytes = Buffer.concat([bytesOf('{"model":"'), Buffer.of(0xff), bytesOf('","messages":[]}')]);
    expect(() => readRequest(new Uint8Array(bytes))).toThrow("not valid UTF-8");
  });
});

describe("the text for the vendor", () => {
  test("is unchanged where nothing has to change", () => {
    const payload = read({ model: "m", messages: MESSAGES });
    expect(forVendor(payload, terms("m"))).toBe(payload.raw);
  });

  test("carries its model name and keeps every other character", () => {
    const body =
      ' {"messages" : [{"role":"user","content":"\\u0061 \\"model\\":\\"m\\" é"}],\n "model" :\t"m" , "seed":1e2}';
    expect(forVendor(read(body), terms('v"1'))).toBe(body.replace('"m" ,', '"v\\"1" ,'));
  });

  test("requests usage on every stream and keeps the other stream options", () => {
    const sent = (extra: object) =>
      JSON.parse(forVendor(read({ model: "m", messages: MESSAGES, stream: true, ...extra }), terms("v")));
    expect(sent({})).toMatchObject({ model: "v", stream_options: { include_usage: true } });
    expect(sent({ stream_options: null }).stream_options).toEqual({ include_usage: true });
    expect(
      sent({ stream_options: { include_usage: false, include_obfuscation: false } }).stream_options,
    ).toEqual({
      include_obfuscation: false,
      include_usage: true,
    });
  });

  test("differs in these two alone, whatever the request", () => {
    const fields = fc.dictionary(
      fc.string().filter((name) => !RESERVED.has(name.toLowerCase())),
      fc.jsonValue(),
      { maxKeys: 5 },
    );
    const property = fc.property(fields, fields, fc.boolean(), fc.nat(2), (before, after, stream, indent) => {
      const names = Object.keys(after).filter((name) => !Object.hasOwn(before, name));
      const body = { ...before, model: "m", messages: MESSAGES, stream };
      for (const name of names) Object.assign(body, { [name]: after[name] });
      const text = JSON.stringify(body, null, indent);
      const sent = JSON.parse(forVendor(read(text), terms("vendor")));
      expect(sent).toEqual({
        ...JSON.parse(text),
        model: "vendor",
        ...(stream && { stream_options: { include_usage: true } }),
      });
    });
    fc.assert(property, { seed: 20_261_121, numRuns: 300 });
  });
});

/** Names that generated fields must not have: those of fields that the gateway reads, and `__proto__`. */
const RESERVED = new Set([
  "__proto__",
  "model",
  "messages",
  "provider",
  "stream",
  "stream_options",
  "max_tokens",
  "max_completion_tokens",
  "n",
  "temperature",
  "top_p",
  "stop",
  "tools",
  "tool_choice",
  "response_format",
  "reasoning_effort",
  "service_tier",
  "web_search_options",
  "search_parameters",
  "models",
  "plugins",
]);

describe("the text for a vendor that refuses what OpenAI takes", () => {
  const forStrict = (raw: string) =>
    forVendor(readRequest(Buffer.from(raw)), {
      upstreamModel: "m",
      traits: { refuses: ["stream_options", "max_completion_tokens", "developer"] },
      coveredTokens: null,
      model: { id: "m", maxOutputTokens: 100 },
    });

  test.each([
    [
      '{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"a"}]}',
      '{"model":"m","stream":true,"messages":[{"role":"user","content":"a"}]}',
    ],
    [
      '{"model":"m","max_completion_tokens": 7,"messages":[{"role":"user","content":"a"}]}',
      '{"model":"m","max_tokens":7,"messages":[{"role":"user","content":"a"}]}',
    ],
    [
      '{"model":"m","max_tokens":5,"max_completion_tokens":7,"messages":[{"role":"user","content":"a"}]}',
      '{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"a"}]}',
    ],
    [
      '{"model":"m","messages":[ {"role" : "developer","content":"d\\u00e9"}, {"role":"user","content":"developer"}]}',
      '{"model":"m","messages":[ {"role" : "system","content":"d\\u00e9"}, {"role":"user","content":"developer"}]}',
    ],
  ])("says the same in its words", (raw, sent) => {
    expect(forStrict(raw)).toBe(sent);
  });
});
