/** `JSON.rawJSON` and the source text of a value are in the runtime, not yet in its types (ECMAScript, "JSON.parse source text access"). */
const { parse, rawJSON } = JSON as unknown as {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(source: string): object;
};

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
