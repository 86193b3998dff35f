import { expect } from "bun:test";
import { z } from "zod";

/*
 * The published types of messages (@anthropic-ai/sdk 1.12.0, resources/messages/messages.d.ts) as schemas. Objects
 * allow no other fields. Fields that the vendor's examples omit are optional.
 */
const count = z.int().min(0);
const stopReason = z.enum(["end_turn", "max_tokens", "stop_sequence", "tool_use", "refusal"]);

const usage = z.strictObject({
  input_tokens: count,
  output_tokens: count,
  cache_creation_input_tokens: count.nullable(),
  cache_read_input_tokens: count.nullable(),
  cache_creation: z
    .strictObject({ ephemeral_5m_input_tokens: count, ephemeral_1h_input_tokens: count })
    .nullable(),
  output_tokens_details: z.strictObject({ thinking_tokens: count }).nullable(),
  server_tool_use: z.null(),
  service_tier: z.string().nullable(),
  inference_geo: z.null(),
  speed: z.null(),
});

const id = { id: z.string().regex(/^[a-zA-Z0-9_-]+$/), name: z.string().min(1) };
const caller = z.strictObject({ type: z.literal("direct") });
const block = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text"), text: z.string().min(1), citations: z.null().optional() }),
  z.strictObject({ type: z.literal("thinking"), thinking: z.string(), signature: z.string() }),
  z.strictObject({ type: z.literal("redacted_thinking"), data: z.string().min(1) }),
  z.strictObject({ type: z.literal("tool_use"), ...id, caller, input: z.record(z.string(), z.unknown()) }),
]);

const head = {
  id: z.string().startsWith("msg_"),
  type: z.literal("message"),
  role: z.literal("assistant"),
  model: z.string().min(1),
  container: z.null(),
  diagnostics: z.null(),
};
const stop = {
  stop_reason: stopReason,
  stop_sequence: z.string().nullable(),
  stop_details: z
    .strictObject({ type: z.literal("refusal"), category: z.null(), explanation: z.null() })
    .nullable(),
};
/** Usage of `message_delta`. Only the output count is guaranteed (`MessageDeltaUsage`). */
const endUsage = usage.partial().required({ output_tokens: true });

export const messageReply = z.strictObject({ ...head, ...stop, content: z.array(block), usage });

const startedBlock = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text"), text: z.literal(""), citations: z.null().optional() }),
  z.strictObject({ type: z.literal("thinking"), thinking: z.literal(""), signature: z.literal("") }),
  z.strictObject({ type: z.literal("redacted_thinking"), data: z.string().min(1) }),
  z.strictObject({ type: z.literal("tool_use"), ...id, caller, input: z.strictObject({}) }),
]);
const delta = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text_delta"), text: z.string() }),
  z.strictObject({ type: z.literal("thinking_delta"), thinking: z.string() }),
  z.strictObject({ type: z.literal("signature_delta"), signature: z.string() }),
  z.strictObject({ type: z.literal("input_json_delta"), partial_json: z.string() }),
]);
/** Allowed types of deltas, by the type of their block. */
const DELTAS: Readonly<Record<string, readonly string[]>> = {
  text: ["text_delta"],
  thinking: ["thinking_delta", "signature_delta"],
  redacted_thinking: [],
  tool_use: ["input_json_delta"],
};

const event = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("message_start"),
    message: z.strictObject({
      ...head,
      content: z.tuple([]),
      stop_reason: z.null(),
      stop_sequence: z.null(),
      stop_details: z.null(),
      usage,
    }),
  }),
  z.strictObject({ type: z.literal("content_block_start"), index: count, content_block: startedBlock }),
  z.strictObject({ type: z.literal("content_block_delta"), index: count, delta }),
  z.strictObject({ type: z.literal("content_block_stop"), index: count }),
  z.strictObject({
    type: z.literal("message_delta"),
    delta: z.strictObject({ ...stop, container: z.null() }),
    usage: endUsage,
  }),
  z.strictObject({ type: z.literal("message_stop") }),
  z.strictObject({ type: z.literal("ping") }),
]);

/**
 * Checks a stream's events against their schema, and the order that official clients need: one message, one block after
 * another with deltas of its type, each call's input as complete JSON, then the stop reason and the usage.
 */
export function expectLawfulMessageEvents(text: string): void {
  const events = text
    .split("\n\n")
    .filter((frame) => frame !== "")
    .map((frame) => {
      const [, name, data = ""] = /^event: (\w+)\ndata: (.*)$/.exec(frame) ?? [];
      const parsed = event.parse(JSON.parse(data));
      expect(parsed.type).toBe(name as typeof parsed.type);
      return parsed;
    })
    .filter(({ type }) => type !== "ping");
  expect(events[0]!.type).toBe("message_start");
  expect(events.slice(-2).map(({ type }) => type)).toEqual(["message_delta", "message_stop"]);
  let next = 0;
  let open: { type: string; input: string } | null = null;
  for (const each of events.slice(1, -2)) {
    if (!("index" in each)) throw new Error(`${each.type} among the blocks`);
    expect(each.index).toBe(next);
    if (each.type === "content_block_start") {
      expect(open).toBeNull();
      open = { type: each.content_block.type, input: "" };
    } else if (each.type === "content_block_delta") {
      expect(DELTAS[open!.type]).toContain(each.delta.type);
      if ("partial_json" in each.delta) open!.input += each.delta.partial_json;
    } else {
      if (open!.type === "tool_use") expect(JSON.parse(open!.input || "{}")).toBeObject();
      open = null;
      next += 1;
    }
  }
  expect(open).toBeNull();
}
