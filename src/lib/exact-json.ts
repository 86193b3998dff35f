import { findObjects, scanObject, splice } from "./json.ts";

/** `JSON.rawJSON` and the source text of a value are in the runtime, not yet in its types (ECMAScript, "JSON.parse source text access"). */
const { parse, rawJSON } = JSON as unknown as {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(source: string): object;
};

const LONG_NUMBER = /\d{16}/;

/** A number that a double may change: of many digits, tiny, or written with an exponent, needless zeros or a sign alone. */
const UNUSUAL_NUMBER = /[\d.]{16}|\d[eE][+-]?\d|\.\d*0(?!\d)|0\.0{6}|-0(?![.\d])/;

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
 * Parses JSON, except that each object which is the value of a member of these names is `{ text }`, in which every
 * number and every space is as it was. `JSON.parse` must take the text.
 */
export function parseAroundObjects(text: string, names: ReadonlySet<string>): unknown {
  const edits = findObjects(text, names).map((span) => ({
    span,
    text: `{"text":${JSON.stringify(text.slice(span.start, span.end))}}`,
  }));
  return JSON.parse(splice(text, edits));
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
