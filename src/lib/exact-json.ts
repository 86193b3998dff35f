import { findObjects, scanObject, splice } from "./json.ts";

/**
 * The runtime has `JSON.rawJSON` and the source text of values, but its types do not yet (ECMAScript, "JSON.parse
 * source text access").
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
 * Matches a number that a double may change: one with many digits, a tiny one, or one written with an exponent,
 * needless zeros or a sign alone.
 */
const UNUSUAL_NUMBER = /[\d.]{16}|\d[eE][+-]?\d|\.\d*0(?!\d)|0\.0{6}|-0(?![.\d])/;

/**
 * Parses JSON so that `JSON.stringify` writes every number as it was: a number that would change becomes an opaque
 * object with its text. Use it for values that are only passed on. Throws when `JSON.parse` does.
 */
export function parseExactly(text: string): unknown {
  if (!UNUSUAL_NUMBER.test(text)) return JSON.parse(text);
  return parse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined && String(value) !== source ? rawJSON(source) : value,
  );
}

/**
 * Parses JSON that `JSON.parse` accepts. Each object under a member of these names becomes `{ text }`, in which every
 * number and every space stays as it was.
 */
export function parseAroundObjects(text: string, names: ReadonlySet<string>): unknown {
  const edits = findObjects(text, names).map((span) => ({
    span,
    text: `{"text":${JSON.stringify(text.slice(span.start, span.end))}}`,
  }));
  return JSON.parse(splice(text, edits));
}

/**
 * Returns a member of an object with its whole numbers as they were, to be passed on. `text` is the object's text,
 * `parsed` the result of `JSON.parse` for it.
 */
export function exactMember(text: string, parsed: Readonly<Record<string, unknown>>, name: string): unknown {
  if (parsed[name] === undefined || !LONG_NUMBER.test(text)) return parsed[name];
  const [span] = scanObject(text, [name]).spans;
  return span ? parseExactly(text.slice(span.start, span.end)) : parsed[name];
}
