/**
 * JSON as bytes: where the members of an object lie, so that one value can be replaced and every other byte stays
 * as it was said.
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

/** Objects with more members than this are scanned byte by byte. */
const MOST_NAMES = 24;
/** Deeper than any limit a caller is held to; where exactly no longer matters. */
const DEEPEST_WALK = 1000;

const decoder = new TextDecoder("utf-8", { fatal: true });
const encoder = new TextEncoder();

/** The same bytes as a Buffer, without copying. */
export function view(bytes: Uint8Array<ArrayBuffer>): Buffer<ArrayBuffer> {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** A range of bytes, end exclusive. */
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
  /** Index of the byte after the opening brace. */
  bodyStart: number;
}

/** Decodes and parses; throws a `SyntaxError` on bad JSON and a `TypeError` on bad UTF-8. A leading BOM is skipped. */
export function parseJson(bytes: Uint8Array): unknown {
  return JSON.parse(decoder.decode(bytes));
}

/**
 * Whether a text has more values than `most`, told without parsing it: by the commas and opening brackets outside
 * of its strings. Quick also where parsing would take seconds.
 */
export function hasMoreValues(bytes: Uint8Array, most: number): boolean {
  let values = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at + 1);
    else if (byte === COMMA || byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (++values > most) return true;
    }
  }
  return false;
}

/** True for a JSON object, not an array and not null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Where members of an object lie. `parsed` is what `parseJson` made of the same bytes. Of a repeated name the last
 * value counts, as in `JSON.parse`.
 */
export function scanObject(
  bytes: Uint8Array<ArrayBuffer>,
  parsed: Record<string, unknown>,
  names: readonly string[],
): ObjectScan {
  return scanByName(bytes, parsed, names) ?? scanAll(bytes, names);
}

/**
 * The quick way, by searching for the names: certain where no name is escaped and each stands in the text once.
 * Null where it is not.
 */
function scanByName(
  bytes: Uint8Array<ArrayBuffer>,
  parsed: Record<string, unknown>,
  names: readonly string[],
): ObjectScan | null {
  const text = view(bytes);
  const members = Object.keys(parsed);
  if (members.length > MOST_NAMES || text.includes("\\u")) return null;
  const spans: (Span | undefined)[] = names.map(() => undefined);
  for (const name of members) {
    const quoted = `"${name}"`;
    const at = text.indexOf(quoted);
    if (at < 0 || text.includes(quoted, at + quoted.length)) return null;
    const index = names.indexOf(name);
    if (index < 0) continue;
    const span = stringAfter(bytes, at + quoted.length);
    if (!span) return null;
    spans[index] = span;
  }
  return { spans, count: members.length, depth: depthOf(parsed, 1), bodyStart: text.indexOf("{") + 1 };
}

/** The string value that follows a name; null when the value is something else. */
function stringAfter(bytes: Uint8Array, from: number): Span | null {
  let at = from;
  while ((bytes[at] ?? 0) <= SPACE || bytes[at] === COLON) at++;
  return bytes[at] === QUOTE ? { start: at, end: endOfString(bytes, at + 1) + 1 } : null;
}

function depthOf(value: object, level: number): number {
  let deepest = level;
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    if (typeof item !== "object" || item === null) continue;
    const depth = level < DEEPEST_WALK ? depthOf(item, level + 1) : level + 1;
    if (depth > deepest) deepest = depth;
  }
  return deepest;
}

/** The thorough way: every byte outside of strings is looked at. */
function scanAll(bytes: Uint8Array, names: readonly string[]): ObjectScan {
  const spans: (Span | undefined)[] = names.map(() => undefined);
  let at = bytes.indexOf(OPEN_BRACE) + 1;
  const bodyStart = at;
  let count = 0;
  let deepest = 1;
  let level = 1;
  let isKey = true;
  let member = -1;
  let valueStart = 0;
  for (; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte <= SPACE) continue;
    if (byte === QUOTE) {
      const end = endOfString(bytes, at + 1);
      if (level === 1 && isKey) {
        count++;
        member = nameIndex(bytes, at + 1, end, names);
      }
      at = end;
    } else if (byte === COLON && level === 1) {
      isKey = false;
      valueStart = at + 1;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      level++;
      if (level > deepest) deepest = level;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET || byte === COMMA) {
      if (level === 1) {
        if (member >= 0) spans[member] = trimmed(bytes, valueStart, at);
        member = -1;
        isKey = true;
      }
      if (byte !== COMMA && --level === 0) break;
    }
  }
  return { spans, count, depth: deepest, bodyStart };
}

/** Whether the object names a member twice. */
export function hasRepeatedName(scan: ObjectScan, parsed: Record<string, unknown>): boolean {
  return Object.keys(parsed).length !== scan.count;
}

/** Puts replacements, ordered and not overlapping, in the place of their spans; everything else keeps its bytes. */
export function splice(
  bytes: Uint8Array,
  edits: readonly { span: Span; text: string }[],
): Uint8Array<ArrayBuffer> {
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (const { span, text } of edits) {
    pieces.push(bytes.subarray(from, span.start), encoder.encode(text));
    from = span.end;
  }
  pieces.push(bytes.subarray(from));
  return Buffer.concat(pieces);
}

/** Index of the quote that ends the string whose first character is at `from`. */
function endOfString(bytes: Uint8Array, from: number): number {
  let quote = from;
  for (;;) {
    quote = bytes.indexOf(QUOTE, quote);
    if (quote < 0) return bytes.length;
    let before = quote - 1;
    while (bytes[before] === BACKSLASH) before--;
    if ((quote - before) % 2 === 1) return quote;
    quote++;
  }
}

function nameIndex(bytes: Uint8Array, start: number, end: number, names: readonly string[]): number {
  for (let index = start; index < end; index++) {
    // An escaped name can still spell one of ours.
    if (bytes[index] === BACKSLASH)
      return names.indexOf(String(parseJson(bytes.subarray(start - 1, end + 1))));
  }
  return names.findIndex((name) => {
    if (name.length !== end - start) return false;
    for (let index = 0; index < name.length; index++) {
      if (bytes[start + index] !== name.charCodeAt(index)) return false;
    }
    return true;
  });
}

function trimmed(bytes: Uint8Array, from: number, to: number): Span {
  let start = from;
  let end = to;
  while ((bytes[start] ?? 0) <= SPACE) start++;
  while ((bytes[end - 1] ?? 0) <= SPACE) end--;
  return { start, end };
}
