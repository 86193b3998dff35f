import { isObject } from "../../lib/json.ts";
import { SizedText } from "../sized-text.ts";

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
