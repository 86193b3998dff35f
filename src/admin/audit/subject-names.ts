import { isObject } from "../../lib/json.ts";
import type { AdminContext } from "../context.ts";
import type { AuditRecord } from "./schema.ts";

/**
 * Returns the names of the subjects of audit rows, by revision. Most rows contain the name: the row of a price has its
 * model, and the row of a webhook the host of its address. Otherwise the name comes from the stored key, organization
 * or member; a budget has the name of its key or organization. Rows without a name are left out. Reads each record
 * once.
 */
export async function subjectNames(
  context: Pick<AdminContext, "store">,
  rows: readonly AuditRecord[],
): Promise<ReadonlyMap<bigint, string>> {
  const unnamed = rows.filter((row) => ownName(row) === null).map((row) => [row, referenceOf(row)] as const);
  const read = await readNames(context, [
    ...new Map(
      unnamed.flatMap(([, reference]) => (reference ? [[keyOf(reference), reference]] : [])),
    ).values(),
  ]);
  const references = new Map(unnamed.map(([{ revision }, reference]) => [revision, reference]));
  return new Map(
    rows.flatMap((row) => {
      const reference = references.get(row.revision);
      const name = ownName(row) ?? (reference ? read.get(keyOf(reference)) : undefined);
      return name === undefined ? [] : [[row.revision, name]];
    }),
  );
}

/** The record that contains the name of a subject. */
interface Reference {
  kind: "key" | "organization" | "member";
  id: string;
}

const keyOf = ({ kind, id }: Reference): string => `${kind} ${id}`;

/** Returns the name that the audit row itself contains. */
function ownName({ kind, before, after }: AuditRecord): string | null {
  const fields = { ...fieldsOf(before), ...fieldsOf(after) };
  const field = kind === "price" ? "model" : kind === "webhook" ? "url" : "name";
  const name = fields[field];
  if (typeof name !== "string" || name === "") return null;
  // The path of an address may be a secret, for example at chat services.
  return kind === "webhook" ? (URL.parse(name)?.host ?? null) : name;
}

function referenceOf({ kind, subject, before, after }: AuditRecord): Reference | null {
  if (kind === "key" || kind === "organization" || kind === "member") return { kind, id: subject };
  if (kind !== "budget") return null;
  const { keyId, organizationId } = { ...fieldsOf(before), ...fieldsOf(after) };
  if (typeof keyId === "string") return { kind: "key", id: keyId };
  return typeof organizationId === "string" ? { kind: "organization", id: organizationId } : null;
}

const fieldsOf = (row: unknown): Record<string, unknown> => (isObject(row) ? row : {});

async function readNames(
  { store }: Pick<AdminContext, "store">,
  references: readonly Reference[],
): Promise<ReadonlyMap<string, string>> {
  const keys = await store.keys.names(references.flatMap(({ kind, id }) => (kind === "key" ? [id] : [])));
  const named = await Promise.all(
    references.map(async (reference): Promise<[string, string | undefined]> => {
      const { kind, id } = reference;
      if (kind === "key") return [keyOf(reference), keys.get(id)];
      const found = await (kind === "member" ? store.members : store.organizations).get(id);
      return [keyOf(reference), found?.name];
    }),
  );
  return new Map(named.flatMap(([key, name]) => (name === undefined ? [] : [[key, name]])));
}
