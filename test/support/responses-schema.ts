import { expect } from "bun:test";
import { z } from "zod";

/* The published types of the responses protocol (openai 7.55.0, resources/responses/responses.d.ts) as schemas. */
const nat = z.int().min(0);
const status = z.enum(["in_progress", "completed", "incomplete"]);
const outputText = z.object({
  type: z.literal("output_text"),
  text: z.string(),
  annotations: z.array(z.unknown()),
  logprobs: z.array(z.unknown()).optional(),
});
const refusal = z.object({ type: z.literal("refusal"), refusal: z.string() });
const summaryText = z.object({ type: z.literal("summary_text"), text: z.string() });

const items = {
  message: z.object({
    id: z.string().startsWith("msg_"),
    type: z.literal("message"),
    role: z.literal("assistant"),
    status,
    content: z.array(z.discriminatedUnion("type", [outputText, refusal])),
  }),
  reasoning: z.object({
    id: z.string().startsWith("rs_"),
    type: z.literal("reasoning"),
    summary: z.array(summaryText),
    encrypted_content: z.string().nullish(),
  }),
  function_call: z.object({
    id: z.string().startsWith("fc_"),
    type: z.literal("function_call"),
    call_id: z.string().min(1),
    name: z.string().min(1),
    namespace: z.string().optional(),
    arguments: z.string(),
    status,
  }),
  custom_tool_call: z.object({
    id: z.string().startsWith("ctc_"),
    type: z.literal("custom_tool_call"),
    call_id: z.string().min(1),
    name: z.string().min(1),
    input: z.string(),
  }),
};
const item = z.union([
  z.discriminatedUnion("type", [items.message, items.reasoning, items.function_call, items.custom_tool_call]),
  // Vendors may add items of other types.
  z.object({ id: z.string(), type: z.string().refine((type) => !Object.hasOwn(items, type)) }),
]);

export const usage = z.object({
  input_tokens: nat,
  input_tokens_details: z.object({ cached_tokens: nat, cache_write_tokens: nat }),
  output_tokens: nat,
  output_tokens_details: z.object({ reasoning_tokens: nat }),
  total_tokens: nat,
});

const common = {
  id: z.string().startsWith("resp_"),
  object: z.literal("response"),
  created_at: nat,
  instructions: z.union([z.string(), z.array(z.unknown())]).nullable(),
  metadata: z.record(z.string(), z.string()).nullable(),
  model: z.string(),
  parallel_tool_calls: z.boolean(),
  temperature: z.number().nullable(),
  tool_choice: z.union([z.string(), z.object({ type: z.string() })]),
  tools: z.array(z.object({ type: z.string() })),
  top_p: z.number().nullable(),
  store: z.literal(false),
  previous_response_id: z.null().optional(),
  text: z.object({ format: z.object({ type: z.string() }) }).optional(),
};
const running = z.object({
  ...common,
  status: z.literal("in_progress"),
  error: z.null(),
  incomplete_details: z.null(),
  output: z.tuple([]),
});
export const responseSchema = z.discriminatedUnion("status", [
  z.object({
    ...common,
    status: z.literal("completed"),
    error: z.null(),
    incomplete_details: z.null(),
    output: z.array(item),
    usage,
  }),
  z.object({
    ...common,
    status: z.literal("incomplete"),
    error: z.null(),
    incomplete_details: z.object({ reason: z.enum(["max_output_tokens", "content_filter"]) }),
    output: z.array(item),
    usage,
  }),
]);
const failed = z.object({
  ...common,
  status: z.literal("failed"),
  error: z.object({
    code: z.enum(["server_error", "rate_limit_exceeded", "invalid_prompt"]),
    message: z.string(),
  }),
  output: z.array(item),
});

const onItem = { item_id: z.string(), output_index: nat };
const onPart = { ...onItem, content_index: nat };
const onSummary = { ...onItem, summary_index: nat };
const part = z.discriminatedUnion("type", [outputText, refusal]);
const logprobs = z.array(z.unknown());

/** Schemas of events, by type. */
const EVENTS: Readonly<Record<string, z.ZodObject>> = {
  "response.created": z.object({ response: running }),
  "response.in_progress": z.object({ response: running }),
  "response.completed": z.object({ response: responseSchema }),
  "response.incomplete": z.object({ response: responseSchema }),
  "response.failed": z.object({ response: failed }),
  "response.output_item.added": z.object({ output_index: nat, item }),
  "response.output_item.done": z.object({ output_index: nat, item }),
  "response.content_part.added": z.object({ ...onPart, part }),
  "response.content_part.done": z.object({ ...onPart, part }),
  "response.output_text.delta": z.object({ ...onPart, delta: z.string(), logprobs }),
  "response.output_text.done": z.object({ ...onPart, text: z.string(), logprobs }),
  "response.refusal.delta": z.object({ ...onPart, delta: z.string() }),
  "response.refusal.done": z.object({ ...onPart, refusal: z.string() }),
  "response.reasoning_summary_part.added": z.object({ ...onSummary, part: summaryText }),
  "response.reasoning_summary_part.done": z.object({ ...onSummary, part: summaryText }),
  "response.reasoning_summary_text.delta": z.object({ ...onSummary, delta: z.string() }),
  "response.reasoning_summary_text.done": z.object({ ...onSummary, text: z.string() }),
  "response.function_call_arguments.delta": z.object({ ...onItem, delta: z.string() }),
  "response.function_call_arguments.done": z.object({ ...onItem, arguments: z.string(), name: z.string() }),
  "response.custom_tool_call_input.delta": z.object({ ...onItem, delta: z.string() }),
  "response.custom_tool_call_input.done": z.object({ ...onItem, input: z.string() }),
  error: z.object({
    code: z.string().nullable(),
    message: z.string(),
    param: z.string().nullable(),
    error: z.object({
      type: z.string(),
      code: z.string(),
      message: z.string(),
      param: z.string().nullable(),
    }),
  }),
};

export type StreamEvent = { type: string; sequence_number: number } & ReturnType<typeof JSON.parse>;

/** Parses the events of a stream's text. Throws when a name in `event:` differs from the type, and on `[DONE]`. */
export function readEvents(text: string): StreamEvent[] {
  return text
    .replace(/\r\n?/g, "\n")
    .split("\n\n")
    .map((frame) => frame.trim())
    .filter((frame) => frame !== "" && !frame.startsWith(":"))
    .map((frame) => {
      const [name = "", data = ""] = frame.split("\n");
      const event: StreamEvent = JSON.parse(data.replace(/^data: ?/, ""));
      expect(name.replace(/^event: ?/, "")).toBe(event.type);
      return event;
    });
}

/**
 * Checks every event against its schema, and the order that official clients need. Numbers start at 0 without a gap,
 * and there is one response. Items are opened before their pieces and closed with the joined pieces. The final event
 * has the complete output.
 */
export function expectLawfulEvents(events: readonly StreamEvent[]): void {
  expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => index));
  expect(events.slice(0, 2).map(({ type }) => type)).toEqual(["response.created", "response.in_progress"]);
  const ids = new Set(events.flatMap(({ response }) => (response ? [response.id] : [])));
  expect(ids.size).toBe(1);
  const texts = new Map<string, string>();
  const open = new Map<number, string>();
  const done: unknown[] = [];
  for (const event of events) {
    EVENTS[event.type]?.parse(event);
    const { type, output_index: index } = event;
    const key = `${index}/${event["content_index"] ?? event["summary_index"] ?? 0}`;
    if (type === "response.output_item.added") {
      expect(open.has(index)).toBe(false);
      open.set(index, event["item"].id);
    } else if (type === "response.output_item.done") {
      expect(event["item"].id).toBe(open.get(index));
      done[index] = event["item"];
      open.delete(index);
    } else if (event["item_id"] !== undefined) expect(event["item_id"]).toBe(open.get(index));
    if (typeof event["delta"] === "string") texts.set(key, (texts.get(key) ?? "") + event["delta"]);
    if (/(?:text|arguments|input|refusal)\.done$/.test(type)) {
      const { text = event["arguments"] ?? event["input"] ?? event["refusal"] } = event;
      expect(text).toBe(texts.get(key) ?? "");
    }
  }
  const ending = events.at(-1)!;
  if (ending.type === "error") {
    expect(events.at(-2)!.type).toBe("response.failed");
    return;
  }
  expect(["response.completed", "response.incomplete"]).toContain(ending.type);
  expect(open.size).toBe(0);
  expect(ending["response"].output).toEqual(done);
}
