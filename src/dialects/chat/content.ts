import { isObject } from "../../lib/json.ts";
import { tokenEighths } from "../token-estimate.ts";

/** What vendors count for one generated image (Gemini API, token counting). */
const IMAGE_TOKENS = 1_290;
/** Base64 of audio has about as many characters for one token. */
const AUDIO_CHARACTERS_PER_TOKEN = 64;

/**
 * Estimated size, in eighths of a token, of everything in a message or delta that a vendor counts as output. The
 * deltas of a stream add up to the size of the message that they make.
 */
export function contentEighths(message: Record<string, unknown>): number {
  // Some vendors send the same reasoning under both names.
  const reasoning = message["reasoning_content"] ?? message["reasoning"];
  return (
    textEighths(message["content"]) +
    textEighths(reasoning) +
    textEighths(message["refusal"]) +
    callsEighths(message["tool_calls"]) +
    callEighths(message["function_call"]) +
    mediaEighths(message)
  );
}

/** True for a delta with nothing but text in it, so that another delta with other text differs in nothing else. */
export function isTextDelta(delta: Record<string, unknown>): boolean {
  const { tool_calls: calls, function_call: call, audio, images } = delta;
  return !calls && !call && !audio && !images && contentEighths(delta) > 0;
}

/** Text is a string, or parts that hold it under their own type or as `text` (Mistral nests parts). */
function textEighths(value: unknown): number {
  if (typeof value === "string") return tokenEighths(value);
  if (Array.isArray(value)) return value.reduce((sum: number, part) => sum + textEighths(part), 0);
  if (!isObject(value)) return 0;
  const type = value["type"];
  return textEighths(value["text"] ?? (typeof type === "string" ? value[type] : undefined));
}

function callsEighths(calls: unknown): number {
  if (!Array.isArray(calls)) return 0;
  let sum = 0;
  for (const call of calls)
    if (isObject(call)) sum += callEighths(call["function"]) + callEighths(call["custom"]);
  return sum;
}

function callEighths(call: unknown): number {
  if (!isObject(call)) return 0;
  const { name, arguments: args, input } = call;
  const text = typeof args === "object" && args !== null ? JSON.stringify(args) : args;
  return textEighths(name) + textEighths(text) + textEighths(input);
}

function mediaEighths({ audio, images }: Record<string, unknown>): number {
  let sum = Array.isArray(images) ? 8 * IMAGE_TOKENS * images.length : 0;
  if (!isObject(audio)) return sum;
  sum += textEighths(audio["transcript"]);
  if (typeof audio["data"] === "string") sum += (8 * audio["data"].length) / AUDIO_CHARACTERS_PER_TOKEN;
  return sum;
}
