import { describe, expect, test } from "bun:test";
import { correctedUsage, readUsage, writeUsage } from "./usage.ts";
import { policyFor } from "../../../test/support/usage-policy.ts";
import { readReply } from "./forward.ts";
import { openStream } from "./stream.ts";

const tokensOf = (usage: object) => readUsage(usage)?.tokens;

describe("a vendor's usage", () => {
  test("is read into disjoint categories", () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 50,
      total_tokens: 150,
      prompt_tokens_details: { cached_tokens: 64, cache_write_tokens: 20, image_tokens: 6 },
      completion_tokens_details: { reasoning_tokens: 30, image_tokens: 5 },
    };
    expect(readUsage(usage)).toEqual({
      tokens: {
        input: 10,
        cacheRead: 64,
        cacheWrite: 20,
        imageInput: 6,
        output: 15,
        reasoning: 30,
        imageOutput: 5,
      },
      hasInput: true,
      hasOutput: true,
      isAnomalous: false,
    });
  });

  test.each([
    // Google's compatible endpoint includes reasoning only in the total.
    ["in the total alone", { prompt_tokens: 5, completion_tokens: 9, total_tokens: 44 }],
    [
      "beside the completion (xAI)",
      {
        prompt_tokens: 5,
        completion_tokens: 9,
        total_tokens: 44,
        completion_tokens_details: { reasoning_tokens: 30 },
      },
    ],
    [
      "inside the completion",
      {
        prompt_tokens: 5,
        completion_tokens: 39,
        total_tokens: 44,
        completion_tokens_details: { reasoning_tokens: 30 },
      },
    ],
  ])("has its reasoning %s", (_, usage) => {
    expect(tokensOf(usage)).toEqual({ input: 5, output: 9, reasoning: 30 });
  });

  test.each([
    ["DeepSeek", { prompt_cache_hit_tokens: 8 }],
    ["Moonshot", { cached_tokens: 8 }],
    ["OpenAI", { prompt_tokens_details: { cached_tokens: 8 } }],
  ])("has its cached tokens where %s puts them", (_, cached) => {
    const usage = { prompt_tokens: 10, completion_tokens: 1, ...cached };
    expect(tokensOf(usage)).toEqual({ input: 2, cacheRead: 8, output: 1 });
  });

  test("that is not an object is no report", () => {
    for (const value of [undefined, null, "12", 12, []]) expect(readUsage(value)).toBeNull();
  });

  test.each([-1, 0.5, "7", Number.NaN, 1e30, true, {}])("%p is an impossible count", (count) => {
    expect(readUsage({ prompt_tokens: count, completion_tokens: 2 })).toMatchObject({
      tokens: { input: 0, output: 2 },
      hasInput: false,
      hasOutput: true,
      isAnomalous: true,
    });
  });
});

test("a written usage is read as the same tokens", () => {
  const tokens = {
    input: 1,
    cacheRead: 2,
    cacheWrite: 3,
    imageInput: 4,
    output: 5,
    reasoning: 6,
    imageOutput: 7,
  };
  expect(tokensOf(writeUsage({ unit: "token", tokens, source: "upstream" }))).toEqual(tokens);
});

test("a corrected usage names nothing that is not billed", () => {
  const usage = JSON.stringify({
    prompt_tokens: -4,
    prompt_cache_hit_tokens: -2,
    prompt_cache_miss_tokens: -2,
    prompt_tokens_details: { cached_tokens: -2, cache_creation_tokens: -1, text_tokens: 9 },
    completion_tokens_details: null,
  });
  const billed = {
    unit: "token",
    tokens: { input: 5, output: 2, reasoning: 1 },
    source: "estimated",
  } as const;
  expect(JSON.parse(correctedUsage(usage, billed))).toEqual({
    prompt_tokens: 5,
    completion_tokens: 3,
    total_tokens: 8,
    prompt_cache_hit_tokens: 0,
    prompt_cache_miss_tokens: 5,
    prompt_tokens_details: { cached_tokens: 0, cache_creation_tokens: 0, text_tokens: 9 },
    completion_tokens_details: { reasoning_tokens: 1 },
  });
});

describe("reasoning that is not inside of the completion is shown there", () => {
  const details = { completion_tokens_details: { reasoning_tokens: 400 } };
  const chunk = (fields: object) =>
    Buffer.from(`data: ${JSON.stringify({ id: "c", model: "m", ...fields })}\n\n`);

  test.each([
    ["in the total alone", {}],
    ["beside it", details],
  ])("where a vendor has it %s", (_, more) => {
    const usage = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 430, ...more };
    const shown = { prompt_tokens: 10, completion_tokens: 420, total_tokens: 430, ...details };
    const message = { role: "assistant", content: "hi" };
    const choice = { index: 0, finish_reason: "stop" };
    const reply = { id: "c", model: "m", choices: [{ ...choice, message }], usage };
    const whole = readReply({ text: JSON.stringify(reply) }, "m", policyFor(9));
    expect(JSON.parse(whole.text).usage).toEqual(shown);
    expect(whole.usage).toMatchObject({
      source: "upstream",
      tokens: { input: 10, output: 20, reasoning: 400 },
    });
    const stream = openStream("m", policyFor(9));
    stream.push(chunk({ choices: [{ ...choice, delta: message }] }));
    stream.push(chunk({ choices: [], usage }));
    const [ending = ""] = stream.end().toString().split("\n\n");
    expect(JSON.parse(ending.slice("data: ".length)).usage).toEqual(shown);
  });
});
