import { isObject } from "../../lib/json.ts";
import { tokenEighths } from "../token-estimate.ts";

/**
 * Estimated size, in eighths of a token, of a content block, or of the one that begins a block of a stream. With
 * the deltas of a stream it adds up to the size of the block that they make.
 */
export function blockEighths(block: Record<string, unknown>): number {
  const { type, text, thinking, name, input } = block;
  const args = isObject(input) && Object.keys(input).length > 0 ? JSON.stringify(input) : "";
  const isCall = typeof type === "string" && type.endsWith("tool_use");
  return textEighths(text) + textEighths(thinking) + (isCall ? textEighths(name) + textEighths(args) : 0);
}

/** The same for a delta. */
export function deltaEighths({ text, thinking, partial_json: json }: Record<string, unknown>): number {
  return textEighths(text) + textEighths(thinking) + textEighths(json);
}

function textEighths(value: unknown): number {
  return typeof value === "string" ? tokenEighths(value) : 0;
}
