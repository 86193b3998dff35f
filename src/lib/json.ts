// Finds members and items in JSON text, so that one value can be replaced without changing another byte. Also has
// bounds on JSON text and small tools for objects.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;
const SPACE = 0x20;

/** A range of a text. `end` is exclusive. */
export interface JsonSpan {
  start: number;
  end: number;
}

interface ObjectScan {
  /** Positions of the values of the requested members; undefined for an absent member. */
  spans: (JsonSpan | undefined)[];
  /** For each member in `spans`, the position of its name and value together. */
  members: (JsonSpan | undefined)[];
  /** Number of members. Each repetition of a name is counted. */
  count: number;
  /** Number of levels of objects and arrays, including the outermost. */
  depth: number;
  /** Index of the character after the opening brace. */
  bodyStart: number;
}

/** Bounds on a JSON text whose parsing could block the event loop. */
export interface JsonBounds {
  /** Number of levels of objects and arrays, including the outermost. */
  depth: number;
  /** Number of values. They are counted by commas, opening brackets and strings. */
  values: number;
  /**
   * Number of values that one string counts as. The comma after the string counts as one more value. As long as strings
   * are few, parsing one takes as long as parsing seven numbers.
   */
  perString: number;
  /** Number of member names. A name takes about a microsecond, many times as long as a value. */
  names: number;
  /** Number of escapes in strings. A million take about 15 ms, as long as twenty million other characters. */
  escapes: number;
  /** Number of characters outside of strings, including white space. Eight million characters take about 20 ms. */
  unquoted: number;
  /** Names that are not counted, neither as names nor as values. */
  freeNames?: ReadonlySet<string>;
}

export type JsonBound = "depth" | "values" | "names" | "escapes" | "unquoted";

/** Returns the bound that a text exceeds, or null. Takes little time even if parsing the text would take seconds. */
export function exceededBound(text: string, bounds: JsonBounds): JsonBound | null {
  if (hasMoreEscapes(text, bounds.escapes)) return "escapes";
  const { perString } = bounds;
  let depth = 0;
  let values = 0;
  /** Start of the string that was found last. */
  let start = 0;
  let end = 0;
  let names = 0;
  let unquoted = 0;
  for (let at = 0; at < text.length; at++) {
    if (++unquoted > bounds.unquoted) return "unquoted";
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) {
      start = at + 1;
      at = endOfString(text, start);
      end = at;
      if ((values += perString) > bounds.values) return "values";
    } else if (unit === COLON) {
      if (bounds.freeNames?.has(text.slice(start, end))) values -= perString;
      else if (++names > bounds.names) return "names";
    } else if (unit === COMMA) {
      if (++values > bounds.values) return "values";
    } else if (unit === OPEN_BRACE || unit === OPEN_BRACKET) {
      if (++values > bounds.values) return "values";
      if (++depth > bounds.depth) return "depth";
    } else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) depth--;
  }
  return null;
}

/** Returns true for more than `most` escapes. Short texts are not searched: an escape has at least two characters. */
function hasMoreEscapes(text: string, most: number): boolean {
  if (text.length <= 2 * most) return false;
  let escapes = 0;
  for (let at = text.indexOf("\\"); at >= 0; at = text.indexOf("\\", at + 2))
    if (++escapes > most) return true;
  return false;
}

/** True for a JSON object; false for arrays and null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns a string or a number as text, and an empty text for any other value. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

const absent = (): undefined => undefined;

/**
 * Finds members of an object. The text must be an object that `JSON.parse` accepts. If a name is repeated, the last
 * value is found, as in `JSON.parse`.
 */
export function scanObject(text: string, names: readonly string[]): ObjectScan {
  const spans: (JsonSpan | undefined)[] = names.map(absent);
  const members: (JsonSpan | undefined)[] = names.map(absent);
  let at = text.indexOf("{") + 1;
  const bodyStart = at;
  let count = 0;
  let deepest = 1;
  let level = 1;
  let isKey = true;
  let member = -1;
  let memberStart = 0;
  let valueStart = 0;
  for (; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit <= SPACE) continue;
    if (unit === QUOTE) {
      const end = endOfString(text, at + 1);
      if (level === 1 && isKey) {
        count++;
        memberStart = at;
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
        if (member >= 0) {
          const span = trimmed(text, valueStart, at);
          spans[member] = span;
          members[member] = { start: memberStart, end: span.end };
        }
        member = -1;
        isKey = true;
      }
      if (unit !== COMMA && --level === 0) break;
    }
  }
  return { spans, members, count, depth: deepest, bodyStart };
}

/** Returns the positions of an array's items. The text must be an array that `JSON.parse` accepts. */
export function scanArray(text: string): JsonSpan[] {
  const items: JsonSpan[] = [];
  let at = text.indexOf("[") + 1;
  let start = at;
  let level = 1;
  for (; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) at = endOfString(text, at + 1);
    else if (unit === OPEN_BRACE || unit === OPEN_BRACKET) level++;
    else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) {
      if (--level === 0) break;
    } else if (unit === COMMA && level === 1) {
      items.push(trimmed(text, start, at));
      start = at + 1;
    }
  }
  const last = trimmed(text, start, at);
  if (last.end > last.start) items.push(last);
  return items;
}

/**
 * Returns the position of each object that is the value of a member with one of these names, at any depth. Does not
 * search inside an object that it has found.
 */
export function findObjects(text: string, names: ReadonlySet<string>): JsonSpan[] {
  const found: JsonSpan[] = [];
  /** Start of the string that was found last. */
  let start = 0;
  let end = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) {
      start = at + 1;
      at = end = endOfString(text, start);
    } else if (unit === COLON && names.has(nameOf(text.slice(start, end)))) {
      let value = at + 1;
      while (text.charCodeAt(value) <= SPACE) value++;
      if (text.charCodeAt(value) !== OPEN_BRACE) continue;
      at = endOfObject(text, value);
      found.push({ start: value, end: at + 1 });
    }
  }
  return found;
}

/** Returns the index of the brace that ends the object at `from`. */
function endOfObject(text: string, from: number): number {
  let level = 0;
  for (let at = from; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) at = endOfString(text, at + 1);
    else if (unit === OPEN_BRACE) level++;
    else if (unit === CLOSE_BRACE && --level === 0) return at;
  }
  return text.length;
}

/** True when the object contains a name more than once. */
export function hasRepeatedName(scan: ObjectScan, parsed: Record<string, unknown>): boolean {
  return Object.keys(parsed).length !== scan.count;
}

/** Replaces spans, which must be ordered and must not overlap. */
export function splice(text: string, edits: readonly { span: JsonSpan; text: string }[]): string {
  let spliced = "";
  let from = 0;
  for (const edit of edits) {
    spliced += text.slice(from, edit.span.start) + edit.text;
    from = edit.span.end;
  }
  return spliced + text.slice(from);
}

/** Returns the index of the closing quote. `from` is the position of the string's first character. */
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

/** Decodes the escapes of a name, because the JSON text may contain escapes in a requested name. */
function nameOf(escaped: string): string {
  return escaped.includes("\\") ? String(JSON.parse(`"${escaped}"`)) : escaped;
}

function trimmed(text: string, from: number, to: number): JsonSpan {
  let start = from;
  let end = to;
  while (text.charCodeAt(start) <= SPACE) start++;
  while (text.charCodeAt(end - 1) <= SPACE) end--;
  return { start, end };
}

/**
 * Returns the value that a table itself has for an untrusted name, or undefined. A plain access with names such as
 * `constructor` or `__proto__` would return inherited members.
 */
export function ownValue<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** True when the object has at least one member. */
export function hasMembers(object: object): boolean {
  for (const _ in object) return true;
  return false;
}

/** Like `Object.entries`, but with typed keys. The record must have no other keys. */
export function entriesOf<Key extends string, Value>(
  record: Readonly<Partial<Record<Key, Value>>>,
): [Key, Value][] {
  return Object.entries(record) as [Key, Value][];
}

/** Returns a record that has, for each key, the value that `valueOf` returns. */
export function recordFrom<Key extends string, Value>(
  keys: readonly Key[],
  valueOf: (key: Key) => Value,
): Record<Key, Value> {
  return Object.fromEntries(keys.map((key) => [key, valueOf(key)])) as Record<Key, Value>;
}

/** True for a name that the table itself has. */
export function isKeyOf<Key extends string>(
  table: Readonly<Record<Key, unknown>>,
  name: string,
): name is Key {
  return Object.hasOwn(table, name);
}
