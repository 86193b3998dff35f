import type { ChatCompletion, ChatCompletionChunk } from "openai/resources/chat/completions";
import type { CompletionUsage } from "openai/resources/completions";
import type { CreateEmbeddingResponse } from "openai/resources/embeddings";
import type { Model } from "openai/resources/models";
import { z } from "zod";
import { count, orNull, seconds } from "./fields.ts";

/*
 * Responses of chat, embeddings and the list of models (openai 7.55.0, resources/chat/completions,
 * resources/embeddings, resources/models). The compiler refuses a schema without a field that the client's types
 * require. Additional fields are allowed.
 */
const usage = z.object({
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  prompt_tokens_details: orNull(
    z.object({
      cached_tokens: orNull(count),
      cache_write_tokens: orNull(count),
      audio_tokens: orNull(count),
    }),
  ),
  completion_tokens_details: orNull(
    z.object({
      reasoning_tokens: orNull(count),
      audio_tokens: orNull(count),
      accepted_prediction_tokens: orNull(count),
      rejected_prediction_tokens: orNull(count),
    }),
  ),
}) satisfies z.ZodType<CompletionUsage>;

const tokenLogprob = z.object({
  token: z.string(),
  bytes: z.array(count).nullable(),
  logprob: z.number(),
  top_logprobs: z.array(
    z.object({ token: z.string(), bytes: z.array(count).nullable(), logprob: z.number() }),
  ),
});
const logprobs = z
  .object({ content: z.array(tokenLogprob).nullable(), refusal: z.array(tokenLogprob).nullable() })
  .nullable();
const finishReason = z.enum(["stop", "length", "tool_calls", "content_filter", "function_call"]);
const called = z.object({ name: z.string().min(1), arguments: z.string() });

const message = z.object({
  role: z.literal("assistant"),
  content: z.string().nullable(),
  refusal: z.string().nullable(),
  function_call: orNull(called),
  tool_calls: orNull(
    z.array(
      z.union([
        z.object({ id: z.string().min(1), type: z.literal("function"), function: called }),
        z.object({
          id: z.string().min(1),
          type: z.literal("custom"),
          custom: z.object({ name: z.string().min(1), input: z.string() }),
        }),
      ]),
    ),
  ),
});

const head = {
  id: z.string().min(1),
  created: seconds,
  model: z.string().min(1),
  system_fingerprint: orNull(z.string()),
};

export const chatReply = z.object({
  ...head,
  object: z.literal("chat.completion"),
  choices: z.array(z.object({ index: count, message, logprobs, finish_reason: finishReason })).min(1),
  // The specification requires this field.
  usage,
}) satisfies z.ZodType<ChatCompletion>;

const delta = z.object({
  role: z.literal("assistant").optional(),
  content: z.string().nullish(),
  refusal: z.string().nullish(),
  tool_calls: orNull(
    z.array(
      z.object({
        index: count,
        id: z.string().min(1).optional(),
        type: z.literal("function").optional(),
        function: z.object({ name: z.string().min(1).optional(), arguments: orNull(z.string()) }).optional(),
      }),
    ),
  ),
});

export const chatChunk = z.object({
  ...head,
  object: z.literal("chat.completion.chunk"),
  choices: z.array(
    z.object({ index: count, delta, logprobs: logprobs.optional(), finish_reason: finishReason.nullable() }),
  ),
  usage: usage.nullish(),
}) satisfies z.ZodType<ChatCompletionChunk>;

/** A vector is base64 if the caller requested this. The client's types do not include base64. */
const vector = z.union([z.array(z.number()), z.base64() as unknown as z.ZodType<number[]>]);

export const embeddingsReply = z.object({
  object: z.literal("list"),
  data: z.array(z.object({ object: z.literal("embedding"), index: count, embedding: vector })),
  model: z.string().min(1),
  usage: z.object({ prompt_tokens: count, total_tokens: count }),
}) satisfies z.ZodType<CreateEmbeddingResponse>;

export const model = z.object({
  id: z.string().min(1),
  object: z.literal("model"),
  // 0 when the time is unknown.
  created: count,
  owned_by: z.string(),
  shutdown_date: z.string().nullish(),
}) satisfies z.ZodType<Model>;

export const modelList = z.object({ object: z.literal("list"), data: z.array(model) });
