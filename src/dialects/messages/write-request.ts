import { writeJson } from "../../lib/json-edit.ts";
import type { Conversation, OutputFormat, Turn } from "../conversation/request.ts";
import { untranslatable } from "../conversation/untranslatable.ts";
import type { VendorTerms } from "../dialect.ts";
import { limitMarks } from "./content.ts";
import { type ThinkingFields, writeThinking } from "./thinking.ts";
import { writeTools } from "./tools.ts";
import { writeAssistantBlocks, writeTexts, writeUserBlocks, type WrittenBlock } from "./write-blocks.ts";

const MAX_USER_ID = 256;
/** The protocol has no field for JSON without a schema, so the request asks for it in words. */
const JSON_INSTRUCTION: WrittenBlock = {
  type: "text",
  text: "Answer with a single JSON object and nothing else.",
};

/**
 * The text of a request for a vendor of messages. Throws an `UpstreamError` for what it cannot say. Cache hints beyond
 * those that vendors take, `verbosity` and long ids of end users are left out.
 */
export function writeConversation(conversation: Conversation, terms: VendorTerms): string {
  const { params, isStream, format, user } = conversation;
  const maxTokens = maxTokensOf(conversation, terms);
  const messages = writeTurns(conversation.turns, params.turns ?? "messages");
  const system = [...writeTexts(conversation.system), ...(format?.type === "json" ? [JSON_INSTRUCTION] : [])];
  const tools = writeTools(conversation);
  const { thinking, effort } = thinkingOf(conversation, terms, { maxTokens, messages, tools });
  limitMarks(marked(tools["tools"], system, messages));
  const output = { effort, ...(format?.type === "schema" && { format: writeFormat(format) }) };
  return writeJson({
    model: terms.upstreamModel,
    max_tokens: maxTokens,
    ...(isStream && { stream: true }),
    ...(system.length > 0 && { system }),
    messages,
    ...tools,
    ...writeSampling(conversation, { isThinking: isOn(thinking), terms }),
    ...(conversation.stop.length > 0 && { stop_sequences: writeStops(conversation) }),
    thinking,
    ...((output.effort || output.format) && { output_config: output }),
    ...(user !== null && user.length <= MAX_USER_ID && { metadata: { user_id: user } }),
  });
}

function maxTokensOf({ maxTokens }: Conversation, { coveredTokens, model }: VendorTerms): number {
  return Math.min(maxTokens ?? coveredTokens ?? model.maxOutputTokens, model.maxOutputTokens);
}

/**
 * Thinking, where the rest of the request allows it: a budget excludes a forced tool, and a call that is being
 * answered must begin with its thinking, which callers of other protocols may not have kept.
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

/**
 * Sampling as vendors take it: a temperature of at most 1, one of temperature and `top_p`, and neither beside thinking
 * nor for models that think by themselves (Anthropic API, "Extended thinking" and "Migrating").
 */
function writeSampling(
  conversation: Conversation,
  { isThinking, terms }: { isThinking: boolean; terms: VendorTerms },
): Record<string, unknown> {
  const { temperature, topP, topK, seed, presencePenalty, frequencyPenalty, params } = conversation;
  if (seed !== null) throw untranslatable(params.seed ?? "seed");
  if (presencePenalty) throw untranslatable(params.presencePenalty ?? "presence_penalty");
  if (frequencyPenalty) throw untranslatable(params.frequencyPenalty ?? "frequency_penalty");
  if (!isThinking && terms.model.reasoning !== "adaptive") {
    if (temperature !== null) return { temperature: Math.min(temperature, 1), top_k: topK ?? undefined };
    return { top_p: topP ?? undefined, top_k: topK ?? undefined };
  }
  if (temperature !== null && temperature !== 1) throw untranslatable(params.temperature ?? "temperature");
  if (topP !== null && topP !== 1) throw untranslatable(params.topP ?? "top_p");
  if (topK !== null) throw untranslatable(params.topK ?? "top_k");
  return {};
}

function writeStops({ stop, params }: Conversation): readonly string[] {
  if (stop.some((each) => each.trim() === ""))
    throw untranslatable(params.stop ?? "stop", "Its stop sequences hold more than white space.");
  return stop;
}

function writeFormat({ schema }: Extract<OutputFormat, { type: "schema" }>): object {
  return { type: "json_schema", schema };
}

/** All that may carry a cache mark, in the order in which vendors read them. */
function* marked(
  tools: unknown,
  system: readonly WrittenBlock[],
  messages: readonly WrittenMessage[],
): Generator<WrittenBlock> {
  if (Array.isArray(tools)) yield* tools;
  yield* system;
  for (const { content } of messages) yield* content;
}

/** A message of the protocol. */
interface WrittenMessage {
  role: "user" | "assistant";
  content: WrittenBlock[];
}

const START: WrittenBlock = { type: "text", text: "(The conversation continues.)" };
const NO_RESULT = "No result was given.";

/**
 * The turns as messages in the order that vendors require: the user begins, the sides alternate, and the user's next
 * message begins with the result of every call. An instruction in the middle becomes text of the user, since not
 * every model takes another role there.
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

/** Results first, one for each call of the message before. */
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

/** Vendors refuse calls without results, and white space at the end of a reply that they should continue. */
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
