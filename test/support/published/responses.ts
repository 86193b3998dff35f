import type {
  Response as ResponseObject,
  ResponseOutputItem,
  ResponseOutputText,
  ResponseStreamEvent,
} from "openai/resources/responses/responses";
import { z } from "zod";
import { byType, count, orNull, seconds } from "./fields.ts";

/*
 * Responses of the responses protocol (openai 7.55.0, resources/responses/responses.d.ts). The compiler refuses a
 * schema without a field that the client's types require. Additional fields, items and events are allowed.
 */
const status = z.enum(["in_progress", "completed", "incomplete"]);
const outputText = z.object({
  type: z.literal("output_text"),
  text: z.string(),
  annotations: z.array(z.looseObject({ type: z.string() })) as unknown as z.ZodType<
    ResponseOutputText["annotations"]
  >,
});
const refusal = z.object({ type: z.literal("refusal"), refusal: z.string() });
const reasoningText = z.object({ type: z.literal("reasoning_text"), text: z.string() });
const summaryText = z.object({ type: z.literal("summary_text"), text: z.string() });
const id = z.string().min(1);

const item = byType<ResponseOutputItem>({
  message: z.object({
    type: z.literal("message"),
    id,
    role: z.literal("assistant"),
    status,
    content: z.array(z.union([outputText, refusal])),
  }),
  reasoning: z.object({
    type: z.literal("reasoning"),
    id,
    summary: z.array(summaryText),
    content: orNull(z.array(reasoningText)),
    encrypted_content: z.string().nullish(),
    status: orNull(status),
  }),
  function_call: z.object({
    type: z.literal("function_call"),
    // In a response these fields are always present (`ResponseFunctionToolCallItem`).
    id,
    status,
    call_id: id,
    name: id,
    arguments: z.string(),
  }),
  custom_tool_call: z.object({
    type: z.literal("custom_tool_call"),
    id,
    call_id: id,
    name: id,
    input: z.string(),
  }),
});

const usage = z.object({
  input_tokens: count,
  input_tokens_details: z.object({ cached_tokens: count, cache_write_tokens: count }),
  output_tokens: count,
  output_tokens_details: z.object({ reasoning_tokens: count }),
  total_tokens: count,
}) satisfies z.ZodType<ResponseObject["usage"]>;

/** The response as it is sent. The client itself adds `output_text`. */
type Published = Omit<ResponseObject, "output_text">;

const common = {
  object: z.literal("response"),
  id,
  created_at: seconds,
  model: z.string().min(1),
  instructions: z.union([z.string(), z.array(z.looseObject({}))]).nullable() as z.ZodType<
    Published["instructions"]
  >,
  metadata: z.record(z.string(), z.string()).nullable(),
  parallel_tool_calls: z.boolean(),
  temperature: z.number().nullable(),
  top_p: z.number().nullable(),
  tool_choice: z.union([z.string(), z.looseObject({ type: z.string() })]) as unknown as z.ZodType<
    Published["tool_choice"]
  >,
  tools: z.array(z.looseObject({ type: z.string() })) as unknown as z.ZodType<Published["tools"]>,
  access_programs: z.looseObject({}).nullable() as unknown as z.ZodType<Published["access_programs"]>,
  output: z.array(item),
};
const incomplete = z.object({
  reason: z.enum(["max_output_tokens", "content_filter"]),
});

const running = z.object({
  ...common,
  status: z.enum(["in_progress", "queued"]),
  error: z.null(),
  incomplete_details: z.null(),
}) satisfies z.ZodType<Published>;
const completed = z.object({
  ...common,
  status: z.literal("completed"),
  error: z.null(),
  incomplete_details: z.null(),
  usage,
}) satisfies z.ZodType<Published>;
const cut = z.object({
  ...common,
  status: z.literal("incomplete"),
  error: z.null(),
  incomplete_details: incomplete,
  usage,
}) satisfies z.ZodType<Published>;
const failed = z.object({
  ...common,
  status: z.literal("failed"),
  error: z.object({
    code: z.string().min(1) as unknown as z.ZodType<NonNullable<Published["error"]>["code"]>,
    message: z.string().min(1),
  }),
  incomplete_details: z.null(),
}) satisfies z.ZodType<Published>;

export const responseReply = z.discriminatedUnion("status", [completed, cut, failed]);

const logprobs = z.array(
  z.object({
    token: z.string(),
    logprob: z.number(),
    top_logprobs: orNull(z.array(z.object({ token: orNull(z.string()), logprob: orNull(z.number()) }))),
  }),
);
const part = z.union([outputText, refusal, reasoningText]);
const onItem = { output_index: count };
const onId = { ...onItem, item_id: id };
const onPart = { ...onId, content_index: count };
const onSummary = { ...onId, summary_index: count };

type Name = ResponseStreamEvent["type"];
type OnWire<Event> = Event extends { response: ResponseObject }
  ? Omit<Event, "response" | "type"> & { response: Published }
  : Omit<Event, "type">;
type EventOf<Type extends Name> = OnWire<Extract<ResponseStreamEvent, { type: Type }>>;

/** Every event has a sequence number. */
const numbered = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.object({ sequence_number: count, ...shape });

/** Events by type. */
export const RESPONSE_EVENTS = {
  "response.created": numbered({ response: running }),
  "response.queued": numbered({ response: running }),
  "response.in_progress": numbered({ response: running }),
  "response.completed": numbered({ response: completed }),
  "response.incomplete": numbered({ response: cut }),
  "response.failed": numbered({ response: failed }),
  "response.output_item.added": numbered({ ...onItem, item }),
  "response.output_item.done": numbered({ ...onItem, item }),
  "response.content_part.added": numbered({ ...onPart, part }),
  "response.content_part.done": numbered({ ...onPart, part }),
  "response.output_text.delta": numbered({ ...onPart, delta: z.string(), logprobs }),
  "response.output_text.done": numbered({ ...onPart, text: z.string(), logprobs }),
  "response.refusal.delta": numbered({ ...onPart, delta: z.string() }),
  "response.refusal.done": numbered({ ...onPart, refusal: z.string() }),
  "response.reasoning_text.delta": numbered({ ...onPart, delta: z.string() }),
  "response.reasoning_text.done": numbered({ ...onPart, text: z.string() }),
  "response.reasoning_summary_part.added": numbered({ ...onSummary, part: summaryText }),
  "response.reasoning_summary_part.done": numbered({ ...onSummary, part: summaryText }),
  "response.reasoning_summary_text.delta": numbered({ ...onSummary, delta: z.string() }),
  "response.reasoning_summary_text.done": numbered({ ...onSummary, text: z.string() }),
  "response.function_call_arguments.delta": numbered({ ...onId, delta: z.string() }),
  "response.function_call_arguments.done": numbered({ ...onId, arguments: z.string() }),
  "response.custom_tool_call_input.delta": numbered({ ...onId, delta: z.string() }),
  "response.custom_tool_call_input.done": numbered({ ...onId, input: z.string() }),
  "response.image_generation_call.in_progress": numbered(onId),
  "response.image_generation_call.generating": numbered(onId),
  "response.image_generation_call.completed": numbered(onId),
  "response.web_search_call.in_progress": numbered(onId),
  "response.web_search_call.searching": numbered(onId),
  "response.web_search_call.completed": numbered(onId),
  error: numbered({ code: z.string().nullable(), message: z.string().min(1), param: z.string().nullable() }),
} satisfies { [Type in Name]?: z.ZodType<EventOf<Type>> };
