import { expect } from "bun:test";
import { z } from "zod";

/*
 * The published types of chat completions (OpenAI's OpenAPI document, `CreateChatCompletionResponse` and
 * `CreateChatCompletionStreamResponse`) as schemas. Objects allow no other fields, except for reasoning and
 * `extra_content`, whose fields compatible vendors and relays share.
 */
const count = z.int().min(0);
const logprobs = z.null();
const finishReason = z.enum(["stop", "length", "tool_calls", "content_filter"]);

const usage = z.strictObject({
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  prompt_tokens_details: z
    .strictObject({
      cached_tokens: count,
      cache_write_tokens: count,
      audio_tokens: count,
      image_tokens: count,
    })
    .partial()
    .optional(),
  completion_tokens_details: z
    .strictObject({
      reasoning_tokens: count,
      audio_tokens: count,
      image_tokens: count,
      accepted_prediction_tokens: count,
      rejected_prediction_tokens: count,
    })
    .partial()
    .optional(),
});

const reasoningDetails = z.array(
  z.looseObject({
    type: z.enum(["reasoning.text", "reasoning.summary", "reasoning.encrypted"]),
    index: count.optional(),
  }),
);

const namedCall = z.strictObject({
  id: z.string().min(1),
  type: z.literal("function"),
  function: z.strictObject({ name: z.string().min(1), arguments: z.string() }),
  extra_content: z.looseObject({}).optional(),
});

const message = z.strictObject({
  role: z.literal("assistant"),
  content: z.string().nullable(),
  refusal: z.string().nullable(),
  annotations: z.array(z.unknown()).optional(),
  reasoning_content: z.string().min(1).optional(),
  reasoning_details: reasoningDetails.min(1).optional(),
  tool_calls: z.array(namedCall).min(1).optional(),
});

const head = {
  id: z.string().startsWith("chatcmpl-"),
  // Seconds, not milliseconds.
  created: z.int().min(1_000_000_000).max(9_999_999_999),
  model: z.string().min(1),
  system_fingerprint: z.string().nullish(),
};

export const chatReply = z.strictObject({
  ...head,
  object: z.literal("chat.completion"),
  choices: z.array(z.strictObject({ index: count, message, logprobs, finish_reason: finishReason })).min(1),
  usage,
});

/** The first piece of a call contains its name. Later pieces extend the arguments. */
const callDelta = z.union([
  namedCall.extend({ index: count }),
  z.strictObject({ index: count, function: z.strictObject({ arguments: z.string() }) }),
]);
const delta = z.strictObject({
  role: z.literal("assistant").optional(),
  content: z.string().nullish(),
  refusal: z.string().nullish(),
  reasoning_content: z.string().nullish(),
  reasoning_details: reasoningDetails.optional(),
  tool_calls: z.array(callDelta).min(1).optional(),
});

const chunk = z.strictObject({
  ...head,
  object: z.literal("chat.completion.chunk"),
  choices: z.array(
    z.strictObject({
      index: count,
      delta,
      logprobs: logprobs.optional(),
      finish_reason: finishReason.nullable(),
    }),
  ),
  usage: usage.nullish(),
});

/**
 * Checks a stream's chunks against their schema, and the order that official clients need: one id, the role first, a
 * call's name before its arguments, one finish reason, one usage chunk without choices, then `[DONE]`.
 */
export function expectLawfulChunks(text: string): void {
  const datas = text
    .split("\n\n")
    .filter((frame) => frame !== "" && !frame.startsWith(":"))
    .map((frame) => frame.replace(/^data: /, ""));
  expect(datas.pop()).toBe("[DONE]");
  const chunks = datas.map((data) => chunk.parse(JSON.parse(data)));
  expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  expect(chunks.pop()).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } });
  expect(chunks.filter((each) => each.usage)).toEqual([]);
  const choices = chunks.map(({ choices: [only] }) => only!);
  expect(choices[0]!.delta.role).toBe("assistant");
  expect(choices.flatMap(({ finish_reason: reason }) => reason ?? [])).toHaveLength(1);
  expect(choices.at(-1)!.finish_reason).not.toBeNull();
  const named = new Set<number>();
  for (const call of choices.flatMap(({ delta: { tool_calls: calls = [] } }) => calls)) {
    const { index } = call;
    expect(named.has(index)).toBe(!("id" in call));
    expect(index).toBeLessThanOrEqual(named.size);
    named.add(index);
  }
}
