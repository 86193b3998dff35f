import { isObject } from "../../lib/json.ts";
import type { SizedText } from "../stream-meter.ts";

/** Number of tokens that vendors count for one generated image (Gemini API, token counting). */
const IMAGE_TOKENS = 1_290;

/** Names of an item's fields that contain text of the model. */
const TEXTS = ["arguments", "input", "name", "code", "text", "refusal"] as const;
const LISTS = ["content", "summary"] as const;

/** Adds the size of an item of the output. Encrypted reasoning is not counted, because it is not readable. */
export function addItem(sized: SizedText, item: unknown): void {
  if (!isObject(item)) return;
  if (item["type"] === "image_generation_call") sized.addTokens(IMAGE_TOKENS);
  for (const name of TEXTS) {
    const value = item[name];
    if (typeof value === "string") sized.add(value);
  }
  for (const name of LISTS) {
    const parts = item[name];
    if (Array.isArray(parts)) for (const part of parts) addItem(sized, part);
  }
}
