import type { Turn } from "../conversation/request.ts";
import { untranslatable } from "../conversation/untranslatable.ts";
import { writeAssistantBlocks, writeTexts, writeUserBlocks, type WrittenBlock } from "./write-blocks.ts";

/** A message of the protocol. */
export interface WrittenMessage {
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
export function writeTurns(turns: readonly Turn[], field: string): WrittenMessage[] {
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

/** Calls without results are answered, and white space at the end of an answer to continue would be refused. */
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
