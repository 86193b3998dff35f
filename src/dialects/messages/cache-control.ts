import { isObject } from "../../lib/json.ts";
import type { CacheControl } from "../conversation/request.ts";

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
