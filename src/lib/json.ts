/**
 * JSON as text: where the members of an object lie, so that one value can be replaced and every other character
 * stays as it was said.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;
const SPACE = 0x20;

/** A range of a text, end exclusive. */
export interface Span {
  start: number;
  end: number;
}

export interface ObjectScan {
  /** Where the values of the asked-for members lie; undefined for a member that is not there. */
  spans: (Span | undefined)[];
  /** How many members the object has, repeated names counted each time. */
  count: number;
  /** Levels of objects and arrays, the outermost included. */
  depth: number;
  /** Index of the character after the opening brace. */
  bodyStart: number;
}

/**
 * Whether a text has more values than `most`, told without parsing it: by the commas and opening brackets outside
 * of its strings. Quick also where parsing would take seconds.
 */
export function hasMoreValues(text: string, max: number): boolean {
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) at = endOfString(text, at + 1);
    else if (unit === COMMA || unit === OPEN_BRACE || unit === OPEN_BRACKET) {
      if (++values > max) return true;
    }
  }
  return false;
}

/** True for a JSON object, not an array and not null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Where members of an object lie. The text must be an object that `JSON.parse` takes. Of a repeated name the last
 * value counts, as there.
 */
export function scanObject(text: string, names: readonly string[]): ObjectScan {
  const spans: (Span | undefined)[] = names.map(() => undefined);
  let at = text.indexOf("{") + 1;
  const bodyStart = at;
  let count = 0;
  let deepest = 1;
  let level = 1;
  let isKey = true;
  let member = -1;
  let valueStart = 0;
  for (; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit <= SPACE) continue;
    if (unit === QUOTE) {
      const end = endOfString(text, at + 1);
      if (level === 1 && isKey) {
        count++;
        member = names.indexOf(nameOf(text.slice(at + 1, end)));
      }
      at = end;
    } else if (unit === COLON && level === 1) {
      isKey = false;
      valueStart = at + 1;
    } else if (unit === OPEN_BRACE || unit === OPEN_BRACKET) {
      level++;
      if (level > deepest) deepest = level;
    } else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET || unit === COMMA) {
      if (level === 1) {
        if (member >= 0) spans[member] = trimmed(text, valueStart, at);
        member = -1;
        isKey = true;
      }
      if (unit !== COMMA && --level === 0) break;
    }
  }
  return { spans, count, depth: deepest, bodyStart };
}

/** Whether the object names a member twice. */
export function hasRepeatedName(scan: ObjectScan, parsed: Record<string, unknown>): boolean {
  return Object.keys(parsed).length !== scan.count;
}

/** Puts replacements, ordered and not overlapping, in the place of their spans; everything else stays. */
export function splice(text: string, edits: readonly { span: Span; text: string }[]): string {
  let spliced = "";
  let from = 0;
  for (const edit of edits) {
    spliced += text.slice(from, edit.span.start) + edit.text;
    from = edit.span.end;
  }
  return spliced + text.slice(from);
}

/** Index of the quote that ends the string whose first character is at `from`. */
function endOfString(text: string, from: number): number {
  let quote = from;
  for (;;) {
    quote = text.indexOf('"', quote);
    if (quote < 0) return text.length;
    let before = quote - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    if ((quote - before) % 2 === 1) return quote;
    quote++;
  }
}

/** A name as it is meant: an escaped one can still spell one of ours. Names outside of ASCII are not asked for. */
function nameOf(words: string): string {
  return words.includes("\\") ? String(JSON.parse(`"${words}"`)) : words;
}

function trimmed(text: string, from: number, to: number): Span {
  let start = from;
  let end = to;
  while (text.charCodeAt(start) <= SPACE) start++;
  while (text.charCodeAt(end - 1) <= SPACE) end--;
  return { start, end };
}
