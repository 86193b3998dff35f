import { isObject } from "../../lib/json.ts";
import { tokenEighths } from "../token-estimate.ts";

/** What vendors count for one generated image (Gemini API, token counting). */
const IMAGE_TOKENS = 1_290;

/** Members of items that hold what the model wrote. */
const TEXTS = ["arguments", "input", "name", "code", "text", "refusal"] as const;
const LISTS = ["content", "summary"] as const;

/** Estimated size, in eighths of a token, of an item of the output. Encrypted reasoning is not readable, so not counted. */
export function itemEighths(item: unknown): number {
  if (!isObject(item)) return 0;
  let sum = item["type"] === "image_generation_call" ? 8 * IMAGE_TOKENS : 0;
  for (const name of TEXTS) {
    const value = item[name];
    if (typeof value === "string") sum += tokenEighths(value);
  }
  for (const name of LISTS) {
    const parts = item[name];
    if (Array.isArray(parts)) for (const part of parts) sum += itemEighths(part);
  }
  return sum;
}
