import { afterAll, describe, expect, test } from "bun:test";
import { SIMULATED_KEY, startGemini } from "./gemini.ts";

/* The simulated text models refuse what the vendor refuses. */
const vendor = await startGemini();
afterAll(() => vendor.close());

const user = { role: "user", parts: [{ text: "a fox" }] };
const tools = [{ functionDeclarations: [{ name: "look" }] }];
const called = (more: object = {}) => ({
  role: "model",
  parts: [{ functionCall: { name: "look", args: {} }, ...more }],
});
const answered = { role: "user", parts: [{ functionResponse: { name: "look", response: {} } }] };
const signed = called({ thoughtSignature: Buffer.from("simulated-signature").toString("base64") });
const config = (generationConfig: object) => ({ contents: [user], generationConfig });

async function ask(body: object, model = "gemini-3.8-flash", method = "generateContent") {
  const response = await fetch(`${vendor.url}/v1beta/models/${model}:${method}`, {
    method: "POST",
    headers: { "x-goog-api-key": SIMULATED_KEY, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const { error } = (await response.json()) as { error?: { message: string } };
  return { status: response.status, message: error?.message ?? "" };
}

describe("is refused:", () => {
  test.each<[string, object, RegExp]>([
    ["a field it does not know", { contents: [user], n: 2 }, /Unknown name/],
    ["a role it does not know", { contents: [{ role: "system", parts: user.parts }] }, /valid role/],
    ["an empty turn", { contents: [{ role: "user", parts: [] }] }, /must not be empty/],
    ["an empty text", { contents: [{ role: "user", parts: [{ text: "" }] }] }, /text parameter/],
    ["a part of two kinds", { contents: [{ parts: [{ text: "a", fileData: {} }] }] }, /oneof/],
    ["a call without its signature", { contents: [user, called(), answered], tools }, /thought_signature/],
    [
      "a signature of another",
      { contents: [user, called({ thoughtSignature: "YQ==" }), answered], tools },
      /Corrupted/,
    ],
    [
      "a call without its result",
      { contents: [user, signed, user], tools },
      /number of function response parts/,
    ],
    ["a result without its call", { contents: [user, answered], tools }, /number of function response parts/],
    ["a call at the start", { contents: [signed, answered], tools }, /function call turn/],
    ["level and budget", config({ thinkingConfig: { thinkingLevel: "LOW", thinkingBudget: 1 } }), /only one/],
    ["a level it lacks", config({ thinkingConfig: { thinkingLevel: "MINIMAL" } }), /Thinking level/],
    ["six stops", config({ stopSequences: ["1", "2", "3", "4", "5", "6"] }), /at most 5/],
    ["a schema without JSON", config({ responseJsonSchema: {} }), /response_mime_type/],
    ["a seed of 64 bits", config({ seed: 2 ** 40 }), /range/],
    [
      "names in the automatic mode",
      {
        contents: [user],
        tools,
        toolConfig: { functionCallingConfig: { mode: "AUTO", allowedFunctionNames: ["look"] } },
      },
      /allowed_function_names/,
    ],
    ["no tools at all", { contents: [user], tools: [] }, /tools/],
  ])("%s", async (_, body, message) => {
    const refused = await ask(body);
    expect(refused.status).toBe(400);
    expect(refused.message).toMatch(message);
  });

  test.each<[string, object]>([
    [
      "JSON beside functions, before the third generation",
      { contents: [user], tools, generationConfig: { responseMimeType: "application/json" } },
    ],
    ["a level, before the third generation", config({ thinkingConfig: { thinkingLevel: "LOW" } })],
    ["a budget beyond its range", config({ thinkingConfig: { thinkingBudget: 30_000 } })],
  ])("%s", async (_, body) => {
    expect((await ask(body, "gemini-2.5-flash")).status).toBe(400);
  });

  test("a stream without `alt=sse`, and a count of more than contents outside of a request", async () => {
    expect((await ask({ contents: [user] }, "gemini-3.8-flash", "streamGenerateContent")).status).toBe(400);
    expect((await ask({ contents: [user], tools }, "gemini-3.8-flash", "countTokens")).status).toBe(400);
  });
});

test.each<[string, object]>([
  ["a signed call", { contents: [user, signed, answered], tools }],
  [
    "the word for a history of another model",
    { contents: [user, called({ thoughtSignature: "skip_thought_signature_validator" }), answered], tools },
  ],
  ["an unsigned call of an earlier turn", { contents: [user, called(), answered, user], tools }],
  [
    "names in snake case",
    {
      contents: [user],
      tools: [{ function_declarations: [{ name: "look", parameters_json_schema: { type: "object" } }] }],
      generation_config: { max_output_tokens: 10 },
    },
  ],
])("is taken: %s", async (_, body) => {
  expect(await ask(body)).toEqual({ status: 200, message: "" });
});
