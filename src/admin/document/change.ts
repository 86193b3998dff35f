import { z } from "zod";

export const changeSchema = z.object({
  kind: z.enum(["organization", "channel", "model", "key", "price", "budget", "alert", "member"]),
  id: z.string(),
  action: z.enum(["create", "update", "remove"]),
  before: z.record(z.string(), z.unknown()).nullable().describe("As the document has it; secrets masked"),
  after: z.record(z.string(), z.unknown()).nullable(),
});

/** A change that a document makes to one object. */
export type DocumentChange = z.output<typeof changeSchema>;

type Item = Readonly<Record<string, unknown>>;

/**
 * Returns the changes that turn the current objects into the wanted objects. With `isWhole`, fields that a wanted
 * object leaves out are removed; otherwise these fields stay unchanged. With `isKept`, no object is removed.
 */
export function compare(
  kind: DocumentChange["kind"],
  present: ReadonlyMap<string, Item>,
  wanted: ReadonlyMap<string, Item>,
  { isWhole = false, isKept = false }: { isWhole?: boolean; isKept?: boolean } = {},
): DocumentChange[] {
  const changes: DocumentChange[] = [];
  for (const [id, item] of wanted) {
    const before = present.get(id);
    if (!before) changes.push({ kind, id, action: "create", before: null, after: { ...item } });
    else {
      const after = isWhole ? { ...item } : { ...before, ...item };
      if (!Bun.deepEquals(plain(before), plain(after)))
        changes.push({ kind, id, action: "update", before: { ...before }, after });
    }
  }
  if (isKept) return changes;
  for (const [id, before] of present)
    if (!wanted.has(id)) changes.push({ kind, id, action: "remove", before: { ...before }, after: null });
  return changes;
}

/** Returns the item in the form that JSON can express, for example without undefined fields. */
function plain(item: Item): unknown {
  return JSON.parse(JSON.stringify(item));
}
