import { scanArray, scanObject, splice, type Span } from "./json.ts";

/** The new text of a member's value, given its old one (undefined when it is absent); undefined leaves it as it is. */
export type MemberEdit = (value: string | undefined) => string | undefined;

/**
 * Edits members of an object in its text; every other character stays. A member that is absent is inserted as the
 * first. The text must be an object that `JSON.parse` takes; of a repeated name the last value is edited.
 */
export function editMembers(text: string, edits: Readonly<Record<string, MemberEdit>>): string {
  const names = Object.keys(edits);
  const { spans, count, bodyStart } = scanObject(text, names);
  const replaced: { span: Span; text: string }[] = [];
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

/** Removes a member of an object from its text, with its comma; every other character stays. */
export function removeMember(text: string, name: string): string {
  return removeMembers(text, [name]);
}

/** The same for several members. */
export function removeMembers(text: string, names: readonly string[]): string {
  let rest = text;
  // A repeated name is not worth more passes over the text.
  for (let passes = 0; passes < MAX_REPEATED; passes += 1) {
    const members = scanObject(rest, names).members.filter((member) => member !== undefined);
    if (members.length === 0) break;
    // From the last one on, so that the positions of those before stay true.
    members.sort((one, other) => other.start - one.start);
    for (const member of members) rest = withoutSpan(rest, member);
  }
  return rest;
}

function withoutSpan(text: string, member: Span): string {
  const after = /^\s*,/.exec(text.slice(member.end))?.[0].length;
  const end = member.end + (after ?? 0);
  // The last member has its comma before it, where it is not the only one.
  const start = after === undefined ? text.slice(0, member.start).replace(/,\s*$/, "").length : member.start;
  return text.slice(0, start) + text.slice(end);
}

/** Edits the items of an array in its text; every other character stays. `JSON.parse` must take the text. */
export function editItems(text: string, edit: (item: string) => string): string {
  const edits = scanArray(text).map((span) => ({ span, text: edit(text.slice(span.start, span.end)) }));
  return splice(text, edits);
}
