import fc from "fast-check";
import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../domain/gateway-error.ts";
import type { VendorTerms } from "../dialect.ts";
import { readRequest, responses } from "./index.ts";
import { withoutReasoning } from "./forward.ts";

const bytesOf = (body: object) => Buffer.from(JSON.stringify(body));
const parse = (fields: object) => readRequest(bytesOf({ model: "m", input: "hi", ...fields })).parsed;

function refusal(fields: object): { code: string; param: string | null } {
  try {
    parse(fields);
  } catch (error) {
    if (error instanceof GatewayError) return { code: error.code, param: error.param };
    throw error;
  }
  throw new Error("it was accepted");
}

const terms: VendorTerms = {
  upstreamModel: "vendor-model",
  traits: {},
  coveredTokens: null,
  model: { id: "m", maxOutputTokens: 1000 },
};

test("a vendor of the protocol gets the caller's own text but for the model's name", () => {
  const raw =
    '{ "input" : [ {"role":"user", "content":"\\u00e9 🙂"} ],\n "store":null, "n": 1.0, "big":12345678901234567890,' +
    ' "model" : "m" , "tools":[{"type":"function","name":"f","parameters":{"z":1e400,"a":{}}}],"stream":true}';
  const payload = readRequest(Buffer.from(raw));
  expect(responses.forVendor(payload, terms)).toBe(raw.replace('"m"', '"vendor-model"'));
  const covered = responses.forVendor(payload, { ...terms, coveredTokens: 300 });
  expect(covered).toBe(raw.replace('"m"', '"vendor-model"').replace("{", '{"max_output_tokens":300,'));
});

test("any values of other fields survive", () => {
  const property = fc.property(fc.dictionary(fc.stringMatching(/^x[a-z]{3,8}$/), fc.json()), (others) => {
    const fields = Object.entries(others).map(([name, json]) => `,${JSON.stringify(name)}: ${json}`);
    const raw = `{"model":"m","input":"hi"${fields.join("")}}`;
    const sent = responses.forVendor(readRequest(Buffer.from(raw)), terms);
    expect(sent).toBe(raw.replace('"m"', '"vendor-model"'));
  });
  fc.assert(property, { numRuns: 200 });
});

describe("refused with the field's name", () => {
  test.each([
    ["previous_response_id", { previous_response_id: "resp_1" }],
    ["conversation", { conversation: { id: "conv_1" } }],
    ["prompt", { prompt: { id: "pmpt_1" } }],
    ["background", { background: true }],
    [
      "input[1]",
      {
        input: [
          { role: "user", content: "a" },
          { type: "item_reference", id: "rs_1" },
        ],
      },
    ],
  ])("%s needs a store", (param, fields) => {
    expect(refusal(fields)).toEqual({ code: "unsupported_parameter", param });
  });

  test.each([
    ["input", { input: null }],
    ["input", { input: 7 }],
    ["input[0]", { input: ["hi"] }],
    ["input[0].role", { input: [{ content: "hi" }] }],
    ["input[0].content", { input: [{ role: "user" }] }],
    ["input[0].content[0]", { input: [{ role: "user", content: [{ type: "input_text" }] }] }],
    ["input[0].arguments", { input: [{ type: "function_call", call_id: "c", name: "f", arguments: {} }] }],
    ["input[0].output", { input: [{ type: "function_call_output", call_id: "c", output: {} }] }],
    ["stream", { stream: "true" }],
    ["store", { store: "no" }],
    ["background", { background: "yes" }],
    ["max_output_tokens", { max_output_tokens: 0 }],
    ["max_output_tokens", { max_output_tokens: 1.5 }],
    ["tools[0]", { tools: [{ name: "f" }] }],
    ["tools[0]", { tools: [{ type: "function" }] }],
    ["tools[0]", { tools: [{ type: "namespace", name: "n" }] }],
    ["reasoning", { reasoning: "high" }],
    ["Stream", { Stream: true }],
    ["input[0].Content", { input: [{ role: "user", content: "a", Content: "b" }] }],
  ])("%s of a wrong type", (param, fields) => {
    expect(refusal(fields)).toEqual({ code: "invalid_parameter", param });
  });

  test("a link that is not public", () => {
    const part = { type: "input_image", image_url: "http://10.0.0.1/a.png" };
    const output = { type: "function_call_output", call_id: "c", output: [part] };
    for (const input of [[{ role: "user", content: [part] }], [output]])
      expect(refusal({ input })).toMatchObject({ code: "image_url_not_allowed" });
    const file = { type: "input_file", file_url: "https://user@host.example/a.pdf" };
    expect(refusal({ input: [{ role: "user", content: [file] }] })).toEqual({
      code: "image_url_not_allowed",
      param: "input[0].content[0].file_url",
    });
  });

  test("a name twice, a provider, no model", () => {
    const code = (text: string) => {
      try {
        readRequest(Buffer.from(text));
      } catch (error) {
        return (error as GatewayError).code;
      }
      return null;
    };
    expect(code('{"model":"m","input":"a","input":"b"}')).toBe("invalid_request_body");
    expect(code('{"model":"m","input":"a","provider":null}')).toBe("provider_not_allowed");
    expect(code('{"input":"a"}')).toBe("model_required");
  });
});

test("null is absent", () => {
  const fields = {
    previous_response_id: null,
    conversation: null,
    prompt: null,
    background: null,
    stream: null,
    max_output_tokens: null,
    tools: null,
    service_tier: null,
  };
  expect(parse(fields)).toMatchObject({ isStream: false, maxTokens: null, features: [] });
  expect(parse({ background: false }).features).toEqual([]);
});

test("tools that run at the vendor are features, wherever they are", () => {
  const tools = [
    { type: "function", name: "f" },
    { type: "web_search_preview_2025_03_11" },
    { type: "mcp", server_url: "https://mcp.example" },
    { type: "shell", environment: { type: "container_auto" } },
    { type: "shell", environment: { type: "local" } },
    { type: "local_shell" },
    { type: "namespace", name: "n", tools: [{ type: "code_interpreter" }] },
  ];
  const input = [{ type: "additional_tools", role: "developer", tools: [{ type: "file_search" }] }];
  expect(parse({ tools, input, service_tier: "flex" }).features).toEqual([
    { feature: "service_tier", param: "service_tier" },
    { feature: "web_search", param: "tools[1].type" },
    { feature: null, param: "tools[2].type" },
    { feature: "code_execution", param: "tools[3].type" },
    { feature: "code_interpreter", param: "tools[6].tools[0].type" },
    { feature: "file_search", param: "input[0].tools[0].type" },
  ]);
  const file = { type: "input_file", file_id: "file-1" };
  expect(parse({ input: [{ role: "user", content: [file] }] }).features).toEqual([
    { feature: "file_id", param: "input[0].content[0].file_id" },
  ]);
});

test("a picture counts as one, whatever the length of its base64", () => {
  const image = (data: string) => ({ type: "input_image", image_url: `data:image/png;base64,${data}` });
  const small = parse({ input: [{ role: "user", content: [image("AA==")] }] });
  const large = parse({ input: [{ role: "user", content: [image("A".repeat(40_000))] }] });
  expect(large.estimatedInput).toBe(small.estimatedInput);
  expect(large.inputCeiling).toBe(small.inputCeiling);
});

describe("reasoning of others", () => {
  const items = [
    { role: "user", content: "hi" },
    { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "own" },
    { type: "reasoning", id: "rs_gw_1", summary: [], encrypted_content: "gw-messages-abc" },
    { type: "reasoning", id: "rs_gw_2", summary: [{ type: "summary_text", text: "x" }] },
    { type: "function_call", call_id: "c", name: "f", arguments: '{"type":"reasoning"}' },
  ];

  test("is not sent to a vendor that cannot read it", () => {
    const payload = readRequest(bytesOf({ model: "m", input: items }));
    const sent = JSON.parse(responses.forVendor(payload, terms));
    expect(sent.input).toEqual([items[0], items[1], items[4]]);
  });

  test("is left out where the account cannot decrypt it, and nothing else", () => {
    const sent = JSON.parse(withoutReasoning(JSON.stringify({ model: "m", input: items })));
    expect(sent.input).toEqual([items[0], items[4]]);
    expect(withoutReasoning('{"input":"reasoning"}')).toBe('{"input":"reasoning"}');
  });
});
