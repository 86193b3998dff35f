import { type JsonSpan, scanArray, scanObject, splice } from "./json.ts";

/**
 * Returns the new text of a member's value, or undefined to leave the member unchanged. The argument is the present
 * text; undefined when the member is absent.
 */
export type MemberEdit = (value: string | undefined) => string | undefined;

/**
 * Edits members of an object in its text; every other character stays. An absent member is inserted before all others.
 * If a name is repeated, the last value is edited. The text must be an object that `JSON.parse` accepts.
 */
export function editMembers(text: string, edits: Readonly<Record<string, MemberEdit>>): string {
  const names = Object.keys(edits);
  const { spans, count, bodyStart } = scanObject(text, names);
  const replaced: { span: JsonSpan; text: string }[] = [];
  const inserted: string[] = [];
  for (const [index, name] of names.entries()) {
    const span = spans[index];
    const value = edits[name]?.(span && text.slice(span.start, span.end));
    if (value === undefined) continue;
    if (span) replaced.push({ span, text: value });
    else inserted.push(`${JSON.stringify(name)}:${value}`);
  }
  if (replaced.length > 1) replaced.sort((one, other) => one.span.start - other.span.start);
  if (inserted.length > 0) {
    const end = count > 0 ? "," : "";
    replaced.unshift({ span: { start: bodyStart, end: bodyStart }, text: inserted.join(",") + end });
  }
  return replaced.length === 0 ? text : splice(text, replaced);
}

const MAX_REPEATED = 8;

/** Removes a member of an object, together with its comma, from the object's text. Every other character stays. */
export function removeMember(text: string, name: string): string {
  return removeMembers(text, [name]);
}

/** Removes several members of an object, together with their commas, from the object's text. */
export function removeMembers(text: string, names: readonly string[]): string {
  let rest = text;
  // Each pass removes one occurrence of each name. Occurrences beyond `MAX_REPEATED` stay.
  for (let passes = 0; passes < MAX_REPEATED; passes += 1) {
    const members = scanObject(rest, names).members.filter((member) => member !== undefined);
    if (members.length === 0) break;
    // Spans are removed from the last to the first, so that earlier positions stay valid.
    members.sort((one, other) => other.start - one.start);
    for (const member of members) rest = withoutSpan(rest, member);
  }
  return rest;
}

function withoutSpan(text: string, member: JsonSpan): string {
  const after = /^\s*,/.exec(text.slice(member.end))?.[0].length;
  const end = member.end + (after ?? 0);
  // No comma follows the last member, so a comma before that member is removed.
  const start = after === undefined ? text.slice(0, member.start).replace(/,\s*$/, "").length : member.start;
  return text.slice(0, start) + text.slice(end);
}

/** Edits the items of an array in its text; every other character stays. `JSON.parse` must accept the text. */
export function editItems(text: string, edit: (item: string) => string): string {
  const edits = scanArray(text).map((span) => ({ span, text: edit(text.slice(span.start, span.end)) }));
  return splice(text, edits);
}

/** A JSON text that `writeJson` writes unchanged as a part of a value. */
export class RawJson {
  constructor(readonly text: string) {}

  /** `JSON.stringify` calls this in the order in which it writes the values. */
  toJSON(): string {
    texts.push(this.text);
    return MARK;
  }
}

/** The text that replaces each `RawJson` while a value is written. It is random, so that no other text contains it. */
const MARK = crypto.randomUUID();
const QUOTED_MARK = JSON.stringify(MARK);
/** The raw texts of the value that is being written. Writing is synchronous, so there is only one such value. */
const texts: string[] = [];

/**
 * Writes the same text as `JSON.stringify`, but writes each `RawJson` in the value unchanged. The `RawJson` thereby
 * keeps large numbers, escapes and the order of its members.
 */
export function writeJson(value: unknown): string {
  texts.length = 0;
  const written = JSON.stringify(value);
  if (texts.length === 0) return written;
  const [start = "", ...rest] = written.split(QUOTED_MARK);
  return rest.reduce((text, piece, index) => text + texts[index] + piece, start);
}
