import { isObject } from "../../lib/json.ts";
import type { ToolCall } from "../conversation/request.ts";
import { openSignature, sealSignature, type Signature } from "../conversation/signature.ts";
import { SizedText } from "../stream-meter.ts";

/** Tokens that vendors count for one generated image (Gemini API, token counting). */
const IMAGE_TOKENS = 1_290;
/** Base64 of audio has about this many characters for one token. */
const AUDIO_CHARACTERS_PER_TOKEN = 64;

/**
 * Adds everything in a message or delta that a vendor counts as output. The deltas of a stream add up to the size of
 * the message that they make.
 */
export function addContent(sized: SizedText, message: Record<string, unknown>): void {
  // Some vendors send the same reasoning under both names.
  addText(sized, message["reasoning_content"] ?? message["reasoning"]);
  addText(sized, message["content"]);
  addText(sized, message["refusal"]);
  addCalls(sized, message["tool_calls"]);
  addCall(sized, message["function_call"]);
  addMedia(sized, message);
}

/** True for a delta with nothing but text in it, so that another delta with other text differs in nothing else. */
export function isTextDelta(delta: Record<string, unknown>): boolean {
  const { tool_calls: calls, function_call: call, audio, images } = delta;
  if (calls || call || audio || images) return false;
  const sized = new SizedText({ isKept: false });
  addContent(sized, delta);
  return sized.eighths > 0;
}

/** Text is a string, or parts that hold it under their own type or as `text` (Mistral nests parts). */
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

/** The text of a content, which may be parts (Mistral). */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part: unknown) => (isObject(part) && typeof part["text"] === "string" ? part["text"] : ""))
    .join("");
}

/** A call as chat completions write it, in a message or in a delta. */
interface WrittenCall {
  id: string;
  type: "function" | "custom";
  function?: { name: string; arguments: string };
  custom?: { name: string; input: string };
  extra_content?: { google: { thought_signature: string } };
}

/** Reads a call, or the part of one in a delta; null for anything else. Absent texts are empty. */
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

/** Text, or the object that some servers have in its place (Ollama, SGLang). */
function argumentsOf(value: unknown): string {
  if (typeof value === "string") return value;
  return isObject(value) ? JSON.stringify(value) : "";
}

/** Google's compatible endpoint signs calls here (Gemini API, "OpenAI compatibility", thought signatures). */
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

/** An id for a call whose vendor gave none. */
export function newCallId(): string {
  return `call_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`;
}

/** The members that distinguish the calls of a stream. */
interface CallMark {
  /** Empty where the delta has none. */
  id: string;
  name: string;
}

/**
 * Numbers the calls of a choice in the order of their appearance. Servers differ: parallel calls may all have index 0
 * and differ in their id (vLLM), or have no index and come whole (xAI, Google); names and ids may be repeated in
 * every delta.
 */
export class CallNumbers {
  /** Ids by number; empty where there is none. */
  readonly #ids: string[] = [];
  /** The last call of each index. */
  readonly #byIndex = new Map<number, number>();
  readonly #reported = new Set<string>();

  /** The number of the call that a delta belongs to; from 0, without gaps. */
  of({ id, name }: CallMark, index: unknown): number {
    const last = typeof index === "number" ? this.#byIndex.get(index) : this.#ids.length - 1;
    if (last === undefined || last < 0) return this.#open(id, index);
    const known = this.#ids[last] ?? "";
    // Without an index, only a name shows that a call begins.
    const isOther = name !== "" && (id === "" ? typeof index !== "number" : known !== "" && id !== known);
    if (isOther) return this.#open(id, index);
    this.#ids[last] ||= id;
    return last;
  }

  /** Returns true when a call has its id, its name or its type for the first time. */
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
