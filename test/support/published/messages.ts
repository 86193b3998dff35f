import type {
  ContentBlock,
  Message,
  MessageTokensCount,
  RawContentBlockDelta,
  RawMessageStreamEvent,
} from "@anthropic-ai/sdk/resources/messages";
import type { ModelInfo } from "@anthropic-ai/sdk/resources/models";
import type { ErrorResponse } from "@anthropic-ai/sdk/resources/shared";
import { z } from "zod";
import { byType, count } from "./fields.ts";

/*
 * Responses of messages, of token counts and of the list of models (@anthropic-ai/sdk 1.12.0, resources/messages,
 * resources/models, resources/shared). The compiler refuses a schema without a field that the client's types require.
 * Additional fields, blocks, deltas and events are allowed.
 */
const usage = z.object({
  input_tokens: count,
  output_tokens: count,
  cache_creation_input_tokens: count.nullable(),
  cache_read_input_tokens: count.nullable(),
  cache_creation: z.object({ ephemeral_5m_input_tokens: count, ephemeral_1h_input_tokens: count }).nullable(),
  output_tokens_details: z.object({ thinking_tokens: count }).nullable(),
  server_tool_use: z.object({ web_search_requests: count, web_fetch_requests: count }).nullable(),
  service_tier: z.enum(["standard", "priority", "batch"]).nullable(),
  inference_geo: z.string().nullable(),
  speed: z.enum(["standard", "fast"]).nullable(),
}) satisfies z.ZodType<Message["usage"]>;

const caller = z.union([
  z.object({ type: z.literal("direct") }),
  z.object({
    type: z.enum(["code_execution_20250825", "code_execution_20260120"]),
    tool_id: z.string(),
  }),
]) as z.ZodType<Extract<ContentBlock, { type: "tool_use" }>["caller"]>;
/** The vendor omits this field for an empty list. Another official client (@ai-sdk/anthropic) does not accept null. */
const citations = z
  .array(z.looseObject({ type: z.string() }))
  .optional()
  .transform((value) => value ?? null) as unknown as z.ZodType<
  Extract<ContentBlock, { type: "text" }>["citations"]
>;
const callId = z.string().regex(/^[a-zA-Z0-9_-]+$/);

const block = byType<ContentBlock>({
  text: z.object({ type: z.literal("text"), text: z.string(), citations }),
  thinking: z.object({ type: z.literal("thinking"), thinking: z.string(), signature: z.string() }),
  redacted_thinking: z.object({ type: z.literal("redacted_thinking"), data: z.string().min(1) }),
  tool_use: z.object({
    type: z.literal("tool_use"),
    id: callId,
    name: z.string().min(1),
    input: z.record(z.string(), z.unknown()),
    caller,
  }),
});

const stopReason = z.enum([
  "end_turn",
  "max_tokens",
  "stop_sequence",
  "tool_use",
  "pause_turn",
  "refusal",
  "model_context_window_exceeded",
]);
const stopDetails = z
  .object({
    type: z.literal("refusal"),
    category: z.enum(["cyber", "bio", "frontier_llm", "reasoning_extraction", "general_harms"]).nullable(),
    explanation: z.string().nullable(),
  })
  .nullable();
const container = z.object({ id: z.string(), expires_at: z.string(), skills: z.null() }).nullable();

const head = {
  id: z.string().min(1),
  type: z.literal("message"),
  role: z.literal("assistant"),
  model: z.string().min(1),
  container,
  diagnostics: z.looseObject({}).nullable() as unknown as z.ZodType<Message["diagnostics"]>,
};

export const messageReply = z.object({
  ...head,
  content: z.array(block),
  stop_reason: stopReason,
  stop_sequence: z.string().nullable(),
  stop_details: stopDetails,
  usage,
}) satisfies z.ZodType<Message>;

const delta = byType<RawContentBlockDelta>({
  text_delta: z.object({ type: z.literal("text_delta"), text: z.string() }),
  thinking_delta: z.object({ type: z.literal("thinking_delta"), thinking: z.string() }),
  signature_delta: z.object({ type: z.literal("signature_delta"), signature: z.string() }),
  input_json_delta: z.object({ type: z.literal("input_json_delta"), partial_json: z.string() }),
});

/** Events by type. */
export const MESSAGE_EVENTS = {
  message_start: z.object({
    type: z.literal("message_start"),
    message: z.object({
      ...head,
      content: z.array(block).max(0),
      stop_reason: z.null(),
      stop_sequence: z.null(),
      stop_details: z.null(),
      usage,
    }),
  }),
  content_block_start: z.object({
    type: z.literal("content_block_start"),
    index: count,
    content_block: block,
  }),
  content_block_delta: z.object({ type: z.literal("content_block_delta"), index: count, delta }),
  content_block_stop: z.object({ type: z.literal("content_block_stop"), index: count }),
  message_delta: z.object({
    type: z.literal("message_delta"),
    delta: z.object({
      stop_reason: stopReason.nullable(),
      stop_sequence: z.string().nullable(),
      stop_details: stopDetails,
      container,
    }),
    usage: z.object({
      output_tokens: count,
      input_tokens: count.nullable(),
      cache_creation_input_tokens: count.nullable(),
      cache_read_input_tokens: count.nullable(),
      output_tokens_details: usage.shape.output_tokens_details,
      server_tool_use: usage.shape.server_tool_use,
    }),
  }),
  message_stop: z.object({ type: z.literal("message_stop") }),
} satisfies {
  [Type in RawMessageStreamEvent["type"]]: z.ZodType<Extract<RawMessageStreamEvent, { type: Type }>>;
};

export const tokenCount = z.object({ input_tokens: count }) satisfies z.ZodType<MessageTokensCount>;

const known = z.object({
  type: z.literal("model"),
  id: z.string().min(1),
  display_name: z.string(),
  created_at: z.iso.datetime(),
  capabilities: z.null(),
  lifecycle: z.enum(["active", "deprecated", "retired"]),
  line: z.null(),
  deprecated_at: z.iso.datetime().nullable(),
  retires_at: z.iso.datetime().nullable(),
  max_input_tokens: count.nullable(),
  max_tokens: count.nullable(),
});
export const messagesModel = known satisfies z.ZodType<ModelInfo>;

export const messagesModelList = z.object({
  data: z.array(messagesModel),
  has_more: z.boolean(),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
});

const errorObject = z.object({
  type: z.enum([
    "invalid_request_error",
    "authentication_error",
    "billing_error",
    "permission_error",
    "not_found_error",
    "rate_limit_error",
    "timeout_error",
    "api_error",
    "overloaded_error",
  ]),
  message: z.string().min(1),
}) as z.ZodType<ErrorResponse["error"]>;

/** An error in a stream. It has no field for the request id (Anthropic API, "Error events"). */
export const messagesErrorEvent = z.object({ type: z.literal("error"), error: errorObject });

export const messagesError = messagesErrorEvent.extend({
  request_id: z.string().nullable(),
}) satisfies z.ZodType<ErrorResponse>;
