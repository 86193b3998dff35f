import { exceededBound, type JsonBound, type JsonBounds } from "./json.ts";

/**
 * Bounds on JSON from outside, so that parsing and processing it never block the event loop for long: levels of
 * objects and arrays, values, names of members, escapes (the longest prompts have about a million), and characters
 * outside of strings.
 */
export const JSON_BOUNDS = {
  depth: 128,
  values: 500_000,
  perString: 4,
  names: 50_000,
  escapes: 1_500_000,
  unquoted: 8_000_000,
} satisfies JsonBounds;

/** The text has more than the bounds allow. */
export class JsonBoundError extends Error {
  override readonly name = "JsonBoundError";
  constructor(bound: JsonBound) {
    super(moreThan(bound));
  }
}

/** Describes the bound that a text exceeds, such as `more than 128 levels`. */
export function moreThan(bound: JsonBound): string {
  return `more than ${JSON_BOUNDS[bound]} ${WORDS[bound]}`;
}

const WORDS: Readonly<Record<JsonBound, string>> = {
  depth: "levels",
  values: "values",
  names: "names",
  escapes: "escapes",
  unquoted: "characters outside of strings",
};

/** Parses JSON from outside. Throws a `JsonBoundError` before parsing would take long, and every error of `parse`. */
export function parseBounded(text: string, parse: (text: string) => unknown = JSON.parse): unknown {
  const exceeded = isPlain(text) ? null : exceededBound(text, REPLY_BOUNDS);
  if (exceeded) throw new JsonBoundError(exceeded);
  return parse(text);
}

/** True for nearly every text: it is too short for many values and has too few brackets for many levels. */
function isPlain(text: string): boolean {
  if (text.length <= 2 * JSON_BOUNDS.depth) return true;
  if (text.length > SHORT_CHARACTERS) return false;
  let brackets = 0;
  for (const bracket of OPENING)
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1))
      if (++brackets > JSON_BOUNDS.depth) return false;
  return true;
}

const OPENING = ["{", "["] as const;
/** A shorter text cannot exceed the bound on names: each name takes at least four characters. */
const SHORT_CHARACTERS = 4 * JSON_BOUNDS.names;

/**
 * Log probabilities have four names and two strings for each of twenty candidates of a token. No code reads them, so
 * they do not count.
 */
const REPLY_BOUNDS: JsonBounds = {
  ...JSON_BOUNDS,
  perString: 1,
  freeNames: new Set(["token", "logprob", "bytes", "top_logprobs"]),
};
