import { translatable } from "../../conversation/untranslatable.ts";
import fc from "fast-check";
import { describe, expect, test } from "bun:test";
import type { GatewayError } from "../../../domain/gateway-error.ts";
import type { VendorTerms } from "../../dialect.ts";
import { forVendor } from "./forward.ts";
import { native, readRequest } from "./index.ts";
import { readCountRequest } from "./request.ts";

const call = { model: "m", isStream: false };
const read = (body: unknown) =>
  readRequest(Buffer.from(typeof body === "string" ? body : JSON.stringify(body)), call);
const contents = [{ role: "user", parts: [{ text: "hi" }] }];
const terms = (more: Partial<VendorTerms> = {}): VendorTerms => ({
  upstreamModel: "v",
  traits: {},
  coveredTokens: null,
  model: { id: "m", maxOutputTokens: 100 },
  ...more,
});

function refusalOf(body: unknown): { code: string; param: string | null } {
  try {
    read(body);
  } catch (error) {
    const { code, param } = error as GatewayError;
    return { code, param };
  }
  throw new Error("not refused");
}

describe("a request", () => {
  test("is read under both spellings, a lone object standing for a list", () => {
    const body = {
      contents: { parts: { text: "hi" } },
      system_instruction: { parts: [{ text: "Be brief." }] },
      generation_config: { max_output_tokens: 5, candidate_count: 2, stop_sequences: ["x"] },
    };
    expect(read(body).parsed).toMatchObject({
      model: "m",
      maxTokens: 5,
      choices: 2,
      features: [],
      linkParam: null,
    });
    expect(
      native.readConversation(read({ ...body, generation_config: { max_output_tokens: 5 } })),
    ).toMatchObject({
      system: [{ text: "Be brief." }],
      turns: [{ role: "user", parts: [{ type: "text", text: "hi" }] }],
      maxTokens: 5,
    });
  });

  test.each<[string, unknown, string]>([
    ["no contents", {}, "contents"],
    ["empty contents", { contents: [] }, "contents"],
    ["a number in two spellings", { contents, generationConfig: { topP: 1, top_p: 1 } }, "topP"],
    [
      "text for a number",
      { contents, generationConfig: { temperature: "1" } },
      "generationConfig.temperature",
    ],
    ["no token", { contents, generationConfig: { maxOutputTokens: 0 } }, "generationConfig.maxOutputTokens"],
    [
      "half a candidate",
      { contents, generationConfig: { candidateCount: 1.5 } },
      "generationConfig.candidateCount",
    ],
    ["a name in other letters", { contents, GenerationConfig: {} }, "GenerationConfig"],
    ["text that is none", { contents: [{ parts: [{ text: 5 }] }] }, "text"],
  ])("with %s is refused by its name", (_, body, param) => {
    expect(refusalOf(body)).toEqual({ code: "invalid_parameter", param });
  });

  test.each(["http://a.example/x.png", "https://127.0.0.1/x.png", "https://metadata/x"])(
    "with the link %s is refused",
    (fileUri) => {
      const part = { fileData: { mimeType: "image/png", fileUri } };
      expect(refusalOf({ contents: [{ parts: [part] }] })).toMatchObject({ code: "image_url_not_allowed" });
    },
  );

  test("names its public link, and files and tools of the vendor as features", () => {
    const part = (fileUri: string) => ({ fileData: { mimeType: "application/pdf", fileUri } });
    const { parsed } = read({
      contents: [
        { parts: [part("https://a.example/x.pdf")] },
        {
          parts: [
            part("gs://bucket/x.pdf"),
            part("https://generativelanguage.googleapis.com/v1beta/files/x"),
          ],
        },
      ],
      tools: [
        { functionDeclarations: [] },
        { googleSearch: {} },
        { code_execution: {} },
        { urlContext: {} },
        { googleMaps: {} },
      ],
      cachedContent: "cachedContents/x",
      serviceTier: "priority",
    });
    expect(parsed.linkParam).toBe("contents[0].parts[0].fileData.fileUri");
    expect(parsed.features.map(({ feature }) => feature)).toEqual([
      "service_tier",
      "google_search",
      "code_execution",
      "url_context",
      "google_maps",
      "file_id",
      "file_id",
      null,
    ]);
  });

  test("to be counted may stand inside of another", () => {
    const inner = { model: "models/m", contents, systemInstruction: { parts: [{ text: "x" }] } };
    const payload = readCountRequest(Buffer.from(JSON.stringify({ generateContentRequest: inner })), "m");
    expect(payload.raw).toBe(JSON.stringify(inner));
    expect(readCountRequest(Buffer.from(JSON.stringify({ contents })), "m").raw).toBe(
      JSON.stringify({ contents }),
    );
  });
});

describe("for a vendor of the same protocol", () => {
  test("any body stays as it is, byte for byte", () => {
    const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value));
    fc.assert(
      fc.property(json, fc.constantFrom("", " ", "\n  "), (extra, space) => {
        const raw = `{${space}"contents":[{"parts":[{"text":"\\u00e9","x":1.0}]}],${space}"x-other":${extra},"big":12345678901234567890}`;
        expect(forVendor(read(raw), terms())).toBe(raw);
      }),
    );
  });

  test("only a model's name goes, and a maximum and roles come where they must", () => {
    const raw =
      '{"model":"models/m","contents": [ {"parts":[{"text":"a]}"}]}, {"role":"model","parts":[{"text":"b"}]} ]}';
    expect(forVendor(read(raw), terms())).toBe(raw.replace('"model":"models/m",', ""));
    expect(forVendor(read(raw), terms({ coveredTokens: 7, traits: { demandsRoles: true } }))).toBe(
      '{"generationConfig":{"maxOutputTokens":7},"contents": [ {"role":"user","parts":[{"text":"a]}"}]}, {"role":"model","parts":[{"text":"b"}]} ]}',
    );
    const own = '{"contents":[{"parts":[{"text":"a"}]}],"generation_config":{"top_k":1}}';
    expect(forVendor(read(own), terms({ coveredTokens: 7 }))).toBe(
      own.replace('{"top_k":1}', '{"maxOutputTokens":7,"top_k":1}'),
    );
  });
});

describe("in neutral form", () => {
  const paramOf = (body: object) => {
    try {
      translatable(native.readConversation(read({ contents, ...body })));
    } catch (error) {
      return (error as GatewayError).param;
    }
    throw new Error("was translated");
  };

  test.each<[object, string]>([
    [{ generationConfig: { candidateCount: 2 } }, "generationConfig.candidateCount"],
    [{ generationConfig: { responseModalities: ["AUDIO"] } }, "generationConfig.responseModalities"],
    [{ generationConfig: { speechConfig: {} } }, "generationConfig.speechConfig"],
    [{ generationConfig: { responseLogprobs: true } }, "generationConfig.responseLogprobs"],
    [{ serviceTier: "priority" }, "serviceTier"],
    [{ generationConfig: { service_tier: "flex" } }, "service_tier"],
    [{ tools: [{ googleSearch: {} }] }, "tools[0].googleSearch"],
    [{ toolConfig: { retrievalConfig: {} } }, "toolConfig.retrievalConfig"],
    [
      { safetySettings: [{ category: "x", threshold: "BLOCK_LOW_AND_ABOVE" }] },
      "safetySettings[0].threshold",
    ],
    [{ contents: [{ role: "model", parts: [{ executableCode: {} }] }] }, "contents[0].parts[0]"],
    [
      { contents: [{ parts: [{ functionResponse: { name: "f", response: {} } }] }] },
      "contents[0].parts[0].functionResponse.name",
    ],
  ])("%j cannot be said", (body, param) => {
    expect(paramOf(body)).toBe(param);
  });

  test("schemas of the vendor's own form become JSON Schema", () => {
    const parameters = {
      type: "OBJECT",
      properties: {
        tags: { type: "ARRAY", items: { type: "STRING", nullable: true, enum: ["a"] }, minItems: "1" },
        type: { any_of: [{ type: "INTEGER" }, { type: "NULL" }] },
      },
      propertyOrdering: ["tags"],
      required: ["tags"],
    };
    const { tools } = native.readConversation(
      read({ contents, tools: [{ functionDeclarations: [{ name: "f", parameters }] }] }),
    );
    expect(tools[0]!.parameters).toEqual({
      type: "object",
      properties: {
        tags: { type: "array", items: { type: ["string", "null"], enum: ["a", null] }, minItems: 1 },
        type: { anyOf: [{ type: "integer" }, { type: "null" }] },
      },
      required: ["tags"],
    });
  });

  test("calls and results without ids are joined by their names, in order", () => {
    const called = (name: string) => ({ functionCall: { name, args: { id: 1 } } });
    const result = (name: string, response: object) => ({ functionResponse: { name, response } });
    const { turns } = native.readConversation(
      read({
        contents: [
          ...contents,
          { role: "model", parts: [called("f"), called("g"), called("f")] },
          {
            role: "function",
            parts: [result("f", { output: "one" }), result("g", { a: 1 }), result("f", { error: "no" })],
          },
        ],
      }),
    );
    expect(turns[1]!.parts.map((part) => part.type === "tool_call" && part.id)).toEqual([
      "call_0",
      "call_1",
      "call_2",
    ]);
    expect(turns[2]!.parts).toEqual([
      { type: "tool_result", callId: "call_0", parts: [{ type: "text", text: "one" }], isError: false },
      { type: "tool_result", callId: "call_1", parts: [{ type: "text", text: '{"a":1}' }], isError: false },
      { type: "tool_result", callId: "call_2", parts: [{ type: "text", text: "no" }], isError: true },
    ]);
  });
});
