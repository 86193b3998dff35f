import { writeJson } from "../../lib/json-edit.ts";
import { tellHints } from "../conversation/hints.ts";
import type { Conversation, LeaveOut, OutputFormat, Turn } from "../conversation/request.ts";
import { untranslatable } from "../conversation/untranslatable.ts";
import type { VendorTerms } from "../dialect.ts";
import { limitMarks } from "./content.ts";
import { type ThinkingFields, writeThinking } from "./thinking.ts";
import { writeTools } from "./tools.ts";
import { writeAssistantBlocks, writeTexts, writeUserBlocks, type WrittenBlock } from "./write-blocks.ts";

/** An instruction to reply in JSON. The protocol has no field for JSON without a schema. */
const JSON_INSTRUCTION: WrittenBlock = {
  type: "text",
  text: "Answer with a single JSON object and nothing else.",
};

/** Returns the text of a request for a vendor. Throws an `UpstreamError` for content outside of the protocol. */
export function writeConversation(
  requested: Conversation,
  terms: VendorTerms,
  leaveOut: LeaveOut = () => {},
): string {
  const { params, isStream, format, logprobs } = requested;
  if (logprobs !== null) throw untranslatable(params.logprobs ?? "logprobs");
  const maxTokens = maxTokensOf(requested, terms);
  const messages = writeTurns(requested.turns, params.turns ?? "messages");
  const system = [...writeTexts(requested.system), ...(format?.type === "json" ? [JSON_INSTRUCTION] : [])];
  const tools = writeTools(requested);
  const { thinking, effort } = thinkingOf(requested, terms, { maxTokens, messages, tools });
  if (limitMarks(marked(tools["tools"], system, messages)) > 0) leaveOut("cacheControl");
  const telling = {
    conversation: requested,
    terms,
    isReasoned: thinking !== undefined || effort !== undefined,
    isShown: thinking?.["display"] !== undefined,
    isThinking: isOn(thinking),
  };
  const conversation = tellHints(telling, "messages", leaveOut);
  const { user } = conversation;
  const output = { effort, ...(format?.type === "schema" && { format: writeFormat(format) }) };
  return writeJson({
    model: terms.upstreamModel,
    max_tokens: maxTokens,
    ...(isStream && { stream: true }),
    ...(system.length > 0 && { system }),
    messages,
    ...tools,
    ...writeSampling(conversation),
    ...(conversation.stop.length > 0 && { stop_sequences: writeStops(conversation) }),
    thinking,
    ...((output.effort || output.format) && { output_config: output }),
    ...(user !== null && { metadata: { user_id: user } }),
  });
}

function maxTokensOf({ maxTokens }: Conversation, { coveredTokens, model }: VendorTerms): number {
  return Math.min(maxTokens ?? coveredTokens ?? model.maxOutputTokens, model.maxOutputTokens);
}

/**
 * Returns the fields for thinking if the rest of the request allows them. A thinking budget excludes a forced tool.
 * With a budget, a turn with answered tool calls must begin with thinking, but callers of other protocols may not have
 * kept that thinking.
 */
function thinkingOf(
  { reasoning }: Conversation,
  { model }: VendorTerms,
  request: { maxTokens: number; messages: readonly WrittenMessage[]; tools: Record<string, unknown> },
): ThinkingFields {
  const fields = writeThinking(reasoning, model.reasoning, request.maxTokens);
  if (fields.thinking?.["type"] !== "enabled") return fields;
  const choice = Object(request.tools["tool_choice"]).type;
  const isForced = choice === "any" || choice === "tool";
  return isForced || !startsWithThinking(request.messages) ? {} : fields;
}

function startsWithThinking(messages: readonly WrittenMessage[]): boolean {
  const last = messages.findLast(({ role }) => role === "assistant");
  const isCalling = last?.content.some(({ type }) => type === "tool_use") ?? false;
  return !isCalling || String(last?.content[0]?.["type"]).endsWith("thinking");
}

function isOn(thinking: ThinkingFields["thinking"]): boolean {
  return thinking !== undefined && thinking["type"] !== "disabled";
}

function writeSampling({ temperature, topP, topK }: Conversation): Record<string, unknown> {
  return { temperature: temperature ?? undefined, top_p: topP ?? undefined, top_k: topK ?? undefined };
}

function writeStops({ stop, params }: Conversation): readonly string[] {
  if (stop.some((each) => each.trim() === ""))
    throw untranslatable(params.stop ?? "stop", "Its stop sequences hold more than white space.");
  return stop;
}

function writeFormat({ schema }: Extract<OutputFormat, { type: "schema" }>): object {
  return { type: "json_schema", schema };
}

/** Yields all blocks that may have `cache_control`, in the order in which vendors read them. */
function* marked(
  tools: unknown,
  system: readonly WrittenBlock[],
  messages: readonly WrittenMessage[],
): Generator<WrittenBlock> {
  if (Array.isArray(tools)) yield* tools;
  yield* system;
  for (const { content } of messages) yield* content;
}

interface WrittenMessage {
  role: "user" | "assistant";
  content: WrittenBlock[];
}

const START: WrittenBlock = { type: "text", text: "(The conversation continues.)" };
const NO_RESULT = "No result was given.";

/**
 * Writes turns as messages in the order that vendors require. The user begins, and the sides alternate. After tool
 * calls, the user's message begins with a result for each call. An instruction in the middle of the conversation
 * becomes text of the user, because only some models accept a role for instructions there.
 */
function writeTurns(turns: readonly Turn[], field: string): WrittenMessage[] {
  const messages: WrittenMessage[] = [];
  for (const turn of turns) {
    const content = contentOf(turn, field);
    if (content.length === 0) continue;
    const role = turn.role === "assistant" ? "assistant" : "user";
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...content);
    else messages.push({ role, content });
  }
  if (messages.length === 0) throw untranslatable(field, "It needs a message with a text that is not empty.");
  if (messages[0]?.role === "assistant") messages.unshift({ role: "user", content: [START] });
  for (const [index, message] of messages.entries())
    if (message.role === "user") message.content = orderResults(message.content, messages[index - 1], field);
  const last = messages.at(-1);
  if (last?.role === "assistant") endAnswer(last, messages);
  return messages;
}

function contentOf(turn: Turn, field: string): WrittenBlock[] {
  if (turn.role === "assistant") return writeAssistantBlocks(turn.parts, field);
  return turn.role === "user" ? writeUserBlocks(turn.parts, field) : writeTexts(turn.parts);
}

/** Returns the parts with the tool results first. Each call of the previous message gets a result. */
function orderResults(
  content: WrittenBlock[],
  before: WrittenMessage | undefined,
  field: string,
): WrittenBlock[] {
  const results = content.filter(isResult);
  const calls = new Set(callsOf(before));
  if (results.length === 0 && calls.size === 0) return content;
  const answered = new Set(results.map(({ tool_use_id: id }) => id));
  if (!answered.isSubsetOf(calls))
    throw untranslatable(field, "Each tool result must follow the message that made its call.");
  const missing = [...calls].filter((call) => !answered.has(call));
  return [...results, ...missing.map(noResult), ...content.filter((block) => !isResult(block))];
}

/**
 * Completes an assistant message at the end of the conversation. Vendors refuse tool calls without results. They also
 * refuse white space at the end of a message that the model must continue.
 */
function endAnswer(last: WrittenMessage, messages: WrittenMessage[]): void {
  const calls = callsOf(last);
  if (calls.length > 0) {
    messages.push({ role: "user", content: calls.map(noResult) });
    return;
  }
  const text = last.content.at(-1);
  if (text && typeof text["text"] === "string") text["text"] = text["text"].trimEnd();
}

function callsOf(message: WrittenMessage | undefined): unknown[] {
  return message?.content.filter(({ type }) => type === "tool_use").map(({ id }) => id) ?? [];
}

function isResult({ type }: WrittenBlock): boolean {
  return type === "tool_result";
}

function noResult(id: unknown): WrittenBlock {
  return { type: "tool_result", tool_use_id: id, content: NO_RESULT, is_error: true };
}
