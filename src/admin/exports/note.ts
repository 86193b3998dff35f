import type { AdminContext } from "../context.ts";

interface Exported {
  format: string;
  /** The filter as the caller gave it. */
  filter: Record<string, unknown>;
  /** Number of exported rows. */
  rows: number;
  /** False when the reader stopped, or the reading failed, before the end. */
  isWhole: boolean;
}

/** Writes the audit row of an export, with its format, its filter and the number of rows. */
export async function noteExport(
  { store, by }: Pick<AdminContext, "store" | "by">,
  subject: string,
  detail: Exported,
): Promise<void> {
  const { organizationId: named } = detail.filter;
  const organizationId = typeof named === "string" ? named : null;
  await store.audit.note({ by, kind: "export", action: "read", subject, organizationId, detail });
}
