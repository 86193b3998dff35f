import { exceededBound, type JsonBound, type JsonBounds, findObjects, scanObject, splice } from "./json.ts";

/**
 * Bounds on untrusted JSON, so that parsing and processing it never block the event loop for long. They limit levels of
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

/** Thrown for a text that exceeds one of the bounds. */
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

/** Parses untrusted JSON. Throws a `JsonBoundError` if parsing would take long, and every error of `parse`. */
export function parseBounded(text: string, parse: (text: string) => unknown = JSON.parse): unknown {
  const exceeded = isPlain(text) ? null : exceededBound(text, REPLY_BOUNDS);
  if (exceeded) throw new JsonBoundError(exceeded);
  return parse(text);
}

/**
 * True for a text that is too short to exceed the other bounds and has too few brackets to exceed the bound on levels.
 * Most texts are plain.
 */
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
/** A shorter text cannot exceed the bound on names, because each name needs at least four characters. */
const SHORT_CHARACTERS = 4 * JSON_BOUNDS.names;

/**
 * The names of log probabilities do not count: a reply has four such names for each of up to twenty candidates per
 * token. The bound on values still limits the number of candidates, which are read in linear time.
 */
const REPLY_BOUNDS: JsonBounds = {
  ...JSON_BOUNDS,
  perString: 1,
  freeNames: new Set(["token", "logprob", "bytes", "top_logprobs"]),
};

/**
 * The runtime has `JSON.rawJSON` and passes the source text of values to a reviver, but its types declare neither
 * (ECMAScript, "JSON.parse source text access").
 */
const { parse, rawJSON } = JSON as unknown as {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(source: string): object;
};

const LONG_NUMBER = /\d{16}/;

/**
 * Matches a number whose text may change when it is read as a double: one with many digits, a tiny value, an exponent
 * or unnecessary zeros, and negative zero.
 */
const UNUSUAL_NUMBER = /[\d.]{16}|\d[eE][+-]?\d|\.\d*0(?!\d)|0\.0{6}|-0(?![.\d])/;

/**
 * Parses JSON so that `JSON.stringify` writes every number unchanged: a number that would change becomes an opaque
 * object with its text. Use it for values that are only passed on. Throws when `JSON.parse` does.
 */
export function parseExactly(text: string): unknown {
  if (!UNUSUAL_NUMBER.test(text)) return JSON.parse(text);
  return parse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined && String(value) !== source ? rawJSON(source) : value,
  );
}

/**
 * Parses JSON that `JSON.parse` accepts. An object that is the value of a member with one of these names becomes `{
 * text }`, where `text` is the object's unchanged text.
 */
export function parseAroundObjects(text: string, names: ReadonlySet<string>): unknown {
  const edits = findObjects(text, names).map((span) => ({
    span,
    text: `{"text":${JSON.stringify(text.slice(span.start, span.end))}}`,
  }));
  return JSON.parse(splice(text, edits));
}

/**
 * Returns a member of an object, to be passed on with its long numbers unchanged. `text` is the text of the object,
 * `parsed` the result of `JSON.parse` for it.
 */
export function exactMember(text: string, parsed: Readonly<Record<string, unknown>>, name: string): unknown {
  if (parsed[name] === undefined || !LONG_NUMBER.test(text)) return parsed[name];
  const [span] = scanObject(text, [name]).spans;
  return span ? parseExactly(text.slice(span.start, span.end)) : parsed[name];
}
