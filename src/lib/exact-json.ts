import { scanObject } from "./json.ts";

/** `JSON.rawJSON` and the source text of a value are in the runtime, not yet in its types (ECMAScript, "JSON.parse source text access"). */
const { parse, rawJSON } = JSON as unknown as {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(source: string): object;
};

const LONG_NUMBER = /\d{16}/;

/** A number that a double may change: of many digits, or written with a fraction or an exponent. */
const UNUSUAL_NUMBER = /\d{16}|\d[.eE]/;

/**
 * Parses JSON so that `JSON.stringify` writes every number as it was: one that would change is an opaque object with
 * its text. For values that are only passed on. Throws where `JSON.parse` does.
 */
export function parseExactly(text: string): unknown {
  if (!UNUSUAL_NUMBER.test(text)) return JSON.parse(text);
  return parse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined && String(value) !== source ? rawJSON(source) : value,
  );
}

/**
 * A member of an object for others to be passed on, whose whole numbers are as they were. `text` is the object's, and
 * `parsed` what `JSON.parse` has made of it.
 */
export function exactMember(text: string, parsed: Readonly<Record<string, unknown>>, name: string): unknown {
  if (parsed[name] === undefined || !LONG_NUMBER.test(text)) return parsed[name];
  const [span] = scanObject(text, [name]).spans;
  return span ? parseExactly(text.slice(span.start, span.end)) : parsed[name];
}
