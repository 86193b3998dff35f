import { editItems, editMembers, type MemberEdit } from "../../lib/json-edit.ts";
import { hasMembers, isObject } from "../../lib/json.ts";
import type { ToolCall } from "../conversation/request.ts";
import { contentText, newCallId, readCall } from "./content.ts";
import { readFinish, writeFinish } from "./event.ts";
import { readReasoning } from "./reasoning.ts";
import { systemClock } from "../../lib/clock.ts";

/*
 * Edits that add or correct the fields required by OpenAI's published types. Some vendors omit these fields or write
 * them in another form, and typed clients then fail. A correct reply needs no edits and keeps its bytes.
 */
type Edits = Record<string, MemberEdit>;

const REASONS: ReadonlySet<unknown> = new Set([
  "stop",
  "length",
  "tool_calls",
  "content_filter",
  "function_call",
]);

/** Returns the edits for a whole reply (OpenAI API reference, "The chat completion object"). */
export function editsOfReply(body: Readonly<Record<string, unknown>>): Edits {
  const { id, object, created, choices } = body;
  const edits: Edits = {};
  if (typeof id !== "string" || id === "") edits["id"] = always(newReplyId());
  if (object !== "chat.completion") edits["object"] = always("chat.completion");
  if (!isSeconds(created)) edits["created"] = always(secondsNow());
  const ofChoices = Array.isArray(choices) ? choices.map(editsOfChoice) : [];
  if (ofChoices.some(hasMembers)) edits["choices"] = (old) => old && editEach(old, ofChoices);
  return edits;
}

/** Returns the edits for a chunk, except for its choices. `created` (Unix seconds) replaces a missing or wrong time. */
export function editsOfChunk(event: Readonly<Record<string, unknown>>, created: number): Edits {
  const edits: Edits = {};
  if (event["object"] !== "chat.completion.chunk") edits["object"] = always("chat.completion.chunk");
  if (!isSeconds(event["created"])) edits["created"] = always(created);
  return edits;
}

/** Returns the edits for a choice of a chunk, except for its delta. */
export function editsOfChunkChoice({
  index,
  finish_reason: reason,
}: Readonly<Record<string, unknown>>): Edits {
  const edits: Edits = {};
  if (index === undefined) edits["index"] = always(0);
  if (reason === null || REASONS.has(reason)) return edits;
  const finish = reason === "" ? null : readFinish(reason, false);
  return { ...edits, finish_reason: always(finish && writeFinish(finish)) };
}

/** Returns the edits that replace content parts (Mistral) by their text, because OpenAI's clients read only text. */
export function editsOfContent(message: Readonly<Record<string, unknown>>): Edits {
  const { content, reasoning_content: shown } = message;
  if (!Array.isArray(content)) return {};
  const reasoning = readReasoning(message)
    .map(({ text }) => text)
    .join("");
  return {
    content: always(contentText(content)),
    ...(reasoning !== "" && typeof shown !== "string" && { reasoning_content: always(reasoning) }),
  };
}

/** True for a time in Unix seconds. Some servers send milliseconds, a fraction or zero. */
function isSeconds(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) > 0 && Number(value) < 100_000_000_000;
}

export function secondsNow(): number {
  return Math.floor(systemClock.now() / 1000);
}

function editsOfChoice(choice: unknown, at: number): Edits {
  if (!isObject(choice)) return {};
  const { index, message, logprobs, finish_reason: reason } = choice;
  const edits: Edits = {};
  if (!Number.isInteger(index)) edits["index"] = always(at);
  if (logprobs === undefined) edits["logprobs"] = always(null);
  if (!isObject(message)) return edits;
  const calls = Array.isArray(message["tool_calls"]) ? message["tool_calls"] : [];
  if (!REASONS.has(reason)) {
    const finish = readFinish(reason || "stop", calls.length > 0);
    edits["finish_reason"] = always(finish ? writeFinish(finish) : "stop");
  }
  const ofMessage = editsOfMessage(message, calls);
  if (hasMembers(ofMessage)) edits["message"] = (old) => old && editMembers(old, ofMessage);
  return edits;
}

function editsOfMessage(message: Record<string, unknown>, calls: readonly unknown[]): Edits {
  const edits = editsOfContent(message);
  if (message["role"] !== "assistant") edits["role"] = always("assistant");
  if (message["content"] === undefined) edits["content"] = always(null);
  if (message["refusal"] === undefined) edits["refusal"] = always(null);
  const ofCalls = calls.map((call) => {
    const part = readCall(call);
    if (!part || !isObject(call)) return {};
    const named = call["function"];
    const lacksArguments = isObject(named) && (named["arguments"] ?? null) === null;
    return { ...editsOfCall(call, part), ...(lacksArguments && EMPTY_ARGUMENTS) };
  });
  if (ofCalls.some(hasMembers)) edits["tool_calls"] = (old) => old && editEach(old, ofCalls);
  return edits;
}

/** Returns the edits for a tool call or its first piece. `id` and `kind` were read from this call. */
export function editsOfCall(
  call: Readonly<Record<string, unknown>>,
  { id, kind }: Pick<ToolCall, "id" | "kind">,
): Edits {
  const edits: Edits = {};
  if (id === "") edits["id"] = always(newCallId());
  if (call["type"] !== kind) edits["type"] = always(kind);
  return { ...edits, ...editsOfArguments(call) };
}

/** Returns the edit that replaces an object of arguments (Ollama, SGLang) by its text. */
export function editsOfArguments(call: Readonly<Record<string, unknown>>): Edits {
  const named = call["function"];
  if (!isObject(named) || !isObject(named["arguments"])) return {};
  const edits: Edits = { arguments: (args) => JSON.stringify(args) };
  return { function: (old) => old && editMembers(old, edits) };
}

/** The edit that adds empty arguments to a whole tool call. */
const EMPTY_ARGUMENTS: Edits = {
  function: (old) => old && editMembers(old, { arguments: always("{}") }),
};

/** Applies the edits in `edits` to the array items at the same positions. */
function editEach(text: string, edits: readonly Edits[]): string {
  let at = 0;
  return editItems(text, (item) => {
    const own = edits[at++] ?? {};
    return hasMembers(own) ? editMembers(item, own) : item;
  });
}

/** Returns an edit that writes this value as ASCII, because a character of an edited chunk represents a byte. */
function always(value: string | number | null): MemberEdit {
  const text = JSON.stringify(value).replace(/[\u0080-\uffff]/g, escaped);
  return () => text;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Returns a new id for a reply that has no id or an id of another protocol. */
export function newReplyId(): string {
  return `chatcmpl-${crypto.randomUUID().replaceAll("-", "")}`;
}
