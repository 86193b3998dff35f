import { UpstreamError } from "../../domain/upstream-error.ts";
import { isObject } from "../../lib/json.ts";
import type { CacheControl } from "../conversation/request.ts";
import type { SizedText } from "../sized-text.ts";
import { useOf } from "./usage.ts";

/**
 * Throws an `UpstreamError` unless the first event of a block has all members that clients read unchecked. Relays may
 * leave out a text that is empty so far.
 */
export function checkBegun(block: unknown): asserts block is Record<string, unknown> {
  if (!isObject(block)) throw new UpstreamError("broken", "a block that is none");
  if (block["type"] === "tool_use" && !isNamedCall(block))
    throw new UpstreamError("broken", "a call without an id or a name");
}

export function isNamedCall({ id, name }: Record<string, unknown>): boolean {
  return typeof id === "string" && typeof name === "string";
}

/**
 * Adds the size of a content block, or of the first event of a block in a stream; the deltas add the rest. The result
 * of a vendor's own tool is a use of a feature.
 */
export function addBlock(sized: SizedText, block: Record<string, unknown>): void {
  const { type, text, thinking, name, input } = block;
  addText(sized, text);
  addText(sized, thinking);
  const use = useOf(block);
  if (use) sized.addUse(use);
  if (typeof type !== "string" || !type.endsWith("tool_use")) return;
  addText(sized, name);
  if (isObject(input) && Object.keys(input).length > 0) sized.add(JSON.stringify(input));
}

/** The same for a delta. */
export function addDelta(
  sized: SizedText,
  { text, thinking, partial_json: json }: Record<string, unknown>,
): void {
  addText(sized, text);
  addText(sized, thinking);
  addText(sized, json);
}

function addText(sized: SizedText, value: unknown): void {
  if (typeof value === "string") sized.add(value);
}

/** Vendors refuse more marks in one request (Anthropic API, "Prompt caching"). */
const MAX_MARKS = 4;

export function cacheOf({ cache_control: cacheControl }: Record<string, unknown>): {
  cacheControl?: CacheControl;
} {
  return isObject(cacheControl) ? { cacheControl } : {};
}

export function writeCache({ cacheControl }: { cacheControl?: CacheControl }): { cache_control?: object } {
  return cacheControl ? { cache_control: cacheControl } : {};
}

/** Removes the marks beyond those that a vendor takes, which are hints only. `blocks` are all that may carry one. */
export function limitMarks(blocks: Iterable<Record<string, unknown>>): void {
  let marks = 0;
  for (const block of blocks) {
    if (block["cache_control"] === undefined || ++marks <= MAX_MARKS) continue;
    delete block["cache_control"];
  }
}
