import { exceededBound, type JsonBound, type JsonBounds } from "./json.ts";

/**
 * What JSON of others may have, so that to parse it and to work through it never holds the event loop for long: levels
 * of objects and arrays, values, and names of members.
 */
export const JSON_BOUNDS = { depth: 128, values: 500_000, names: 50_000 } satisfies JsonBounds;

/** The text has more than the bounds allow. */
export class JsonBoundError extends Error {
  override readonly name = "JsonBoundError";
  constructor(bound: JsonBound) {
    super(`more than ${JSON_BOUNDS[bound]} ${bound === "depth" ? "levels" : bound}`);
  }
}

/** Parses JSON of others. Throws a `JsonBoundError` before it would take long, and where `parse` does. */
export function parseBounded(text: string, parse: (text: string) => unknown = JSON.parse): unknown {
  // A text as short as this cannot have so many levels.
  const exceeded = text.length > 2 * JSON_BOUNDS.depth ? exceededBound(text, REPLY_BOUNDS) : null;
  if (exceeded) throw new JsonBoundError(exceeded);
  return parse(text);
}

/** Log probabilities have four names for each of twenty candidates of a token, and nothing reads them. */
const REPLY_BOUNDS: JsonBounds = {
  ...JSON_BOUNDS,
  freeNames: new Set(["token", "logprob", "bytes", "top_logprobs"]),
};
