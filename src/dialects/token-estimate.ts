/**
 * A rule of thumb for tokens: for limits, and while a response runs. A reply without a vendor's report is counted at
 * its end (`gateway/metering/usage-estimator`). It does not depend on how the text was cut. Eighths of a token make
 * pieces add up exactly: 2 for an ASCII character (four to a token, as OpenAI's documentation says), 5 for other
 * letters of two bytes, 8 for a CJK character, 10 for an emoji.
 */
export function tokenEighths(text: string): number {
  return eighthsOf(Buffer.byteLength(text), text.length);
}

/** The same from the size of a text: its bytes in UTF-8 and its UTF-16 code units. */
export function eighthsOf(bytes: number, units: number): number {
  return 3 * bytes - units;
}

/** Whole tokens, at least one for any text. */
export function wholeTokens(eighths: number): number {
  return Math.ceil(eighths / 8);
}
