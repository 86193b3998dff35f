import { scanObject, splice, type Span } from "./json.ts";

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
  names.forEach((name, index) => {
    const span = spans[index];
    const value = edits[name]?.(span && text.slice(span.start, span.end));
    if (value === undefined) return;
    if (span) replaced.push({ span, text: value });
    else inserted.push(`${JSON.stringify(name)}:${value}`);
  });
  replaced.sort((one, other) => one.span.start - other.span.start);
  if (inserted.length > 0) {
    const end = count > 0 ? "," : "";
    replaced.unshift({ span: { start: bodyStart, end: bodyStart }, text: inserted.join(",") + end });
  }
  return replaced.length === 0 ? text : splice(text, replaced);
}
