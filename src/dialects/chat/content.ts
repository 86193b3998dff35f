import { isObject } from "../../lib/json.ts";
import type { ToolCall } from "../conversation/request.ts";
import { openSignature, sealSignature, type Signature } from "../conversation/signature.ts";
import { SizedText } from "../stream-meter.ts";

/** Number of tokens that vendors count for one generated image (Gemini API, token counting). */
const IMAGE_TOKENS = 1_290;
/** Approximate number of base64 characters of audio per token. */
const AUDIO_CHARACTERS_PER_TOKEN = 64;

/** Adds all content that a vendor counts as output. The sizes of deltas add up to the size of the whole message. */
export function addContent(sized: SizedText, message: Record<string, unknown>): void {
  // Only one of the two fields of reasoning is counted, because some vendors send the same reasoning in both.
  addText(sized, message["reasoning_content"] ?? message["reasoning"]);
  addText(sized, message["content"]);
  addText(sized, message["refusal"]);
  addCalls(sized, message["tool_calls"]);
  addCall(sized, message["function_call"]);
  addMedia(sized, message);
}

/** True for a delta with text and without tool calls and media. */
export function isTextDelta(delta: Record<string, unknown>): boolean {
  const { tool_calls: calls, function_call: call, audio, images } = delta;
  if (calls || call || audio || images) return false;
  const sized = new SizedText({ isKept: false });
  addContent(sized, delta);
  return sized.eighths > 0;
}

/** Adds a string or nested parts (Mistral). A part's text is in `text` or in a field with the name of its type. */
function addText(sized: SizedText, value: unknown): void {
  if (typeof value === "string") sized.add(value);
  else if (Array.isArray(value)) for (const part of value) addText(sized, part);
  else if (isObject(value)) {
    const type = value["type"];
    addText(sized, value["text"] ?? (typeof type === "string" ? value[type] : undefined));
  }
}

function addCalls(sized: SizedText, calls: unknown): void {
  if (!Array.isArray(calls)) return;
  for (const call of calls) {
    if (!isObject(call)) continue;
    addCall(sized, call["function"]);
    addCall(sized, call["custom"]);
  }
}

function addCall(sized: SizedText, call: unknown): void {
  if (!isObject(call)) return;
  const { name, arguments: args, input } = call;
  addText(sized, name);
  addText(sized, typeof args === "object" && args !== null ? JSON.stringify(args) : args);
  addText(sized, input);
}

function addMedia(sized: SizedText, { audio, images }: Record<string, unknown>): void {
  if (Array.isArray(images)) sized.addTokens(IMAGE_TOKENS * images.length);
  if (!isObject(audio)) return;
  addText(sized, audio["transcript"]);
  if (typeof audio["data"] === "string") sized.addTokens(audio["data"].length / AUDIO_CHARACTERS_PER_TOKEN);
}

/** Returns the text of a message's content. Some vendors send the content as a list of parts (Mistral). */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part: unknown) => (isObject(part) && typeof part["text"] === "string" ? part["text"] : ""))
    .join("");
}

/** A tool call in the form of chat completions, in a message or a delta. */
interface WrittenCall {
  id: string;
  type: "function" | "custom";
  function?: { name: string; arguments: string };
  custom?: { name: string; input: string };
  extra_content?: { google: { thought_signature: string } };
}

/** Reads a tool call or a piece of one. Missing texts become empty. Returns null for any other value. */
export function readCall(value: unknown): ToolCall | null {
  if (!isObject(value)) return null;
  const kind = isObject(value["custom"]) ? "custom" : "function";
  const named = value[kind];
  if (!isObject(named)) return null;
  const { id } = value;
  const signature = readSignature(value["extra_content"]);
  return {
    type: "tool_call",
    id: typeof id === "string" ? id : "",
    name: typeof named["name"] === "string" ? named["name"] : "",
    kind,
    arguments: argumentsOf(kind === "custom" ? named["input"] : named["arguments"]),
    ...(signature && { signature }),
  };
}

/** Returns the arguments as text. Some servers send the arguments as an object (Ollama, SGLang). */
function argumentsOf(value: unknown): string {
  if (typeof value === "string") return value;
  return isObject(value) ? JSON.stringify(value) : "";
}

/** Reads a signature from the field of Google's compatible endpoint (Gemini API, thought signatures). */
function readSignature(extra: unknown): Signature | null {
  const google = isObject(extra) ? extra["google"] : undefined;
  const value = isObject(google) ? google["thought_signature"] : undefined;
  return typeof value === "string" && value !== "" ? openSignature(value, "chat") : null;
}

export function writeCall({ id, name, kind, arguments: args, signature }: ToolCall): WrittenCall {
  return {
    id,
    type: kind,
    ...(kind === "custom" ? { custom: { name, input: args } } : { function: { name, arguments: args } }),
    ...(signature && {
      extra_content: { google: { thought_signature: sealSignature(signature, "chat") } },
    }),
  };
}

/** Returns a new id for a tool call without an id. */
export function newCallId(): string {
  return `call_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`;
}

/** The fields of a delta that identify its tool call. */
interface CallMark {
  /** Id of the tool call; empty when the delta has no id. */
  id: string;
  name: string;
}

/**
 * Numbers the tool calls of a choice in the order in which they begin. Parallel calls may all have index 0 and
 * different ids (vLLM), and whole calls may have no index (xAI, Google). Each delta may repeat the name and id.
 */
export class CallNumbers {
  /** Ids of the tool calls by number. The id of a call may be empty. */
  readonly #ids: string[] = [];
  /** Number of the latest tool call for each index. */
  readonly #byIndex = new Map<number, number>();
  readonly #reported = new Set<string>();

  /** Returns the number of a delta's tool call. Numbers start at 0 and have no gaps. */
  of({ id, name }: CallMark, index: unknown): number {
    const last = typeof index === "number" ? this.#byIndex.get(index) : this.#ids.length - 1;
    if (last === undefined || last < 0) return this.#open(id, index);
    const known = this.#ids[last] ?? "";
    // Without index and id, only a name marks the beginning of another call.
    const isOther = name !== "" && (id === "" ? typeof index !== "number" : known !== "" && id !== known);
    if (isOther) return this.#open(id, index);
    this.#ids[last] ||= id;
    return last;
  }

  /** Returns true when the id, name or type of a call arrives for the first time. */
  isNews(number: number, member: keyof CallMark | "type", value: string): boolean {
    const key = `${member} ${number}`;
    if (value === "" || this.#reported.has(key)) return false;
    this.#reported.add(key);
    return true;
  }

  #open(id: string, index: unknown): number {
    const number = this.#ids.push(id) - 1;
    if (typeof index === "number") this.#byIndex.set(index, number);
    return number;
  }
}
