import { z } from "zod";
import { AdminError } from "./admin-error.ts";
import type { AdminContext } from "./context.ts";
import { queryTimeSchema } from "./input.ts";
import { pageFields, type Page } from "./paging.ts";
import type { AuditAction, AuditRecord, ChangeKind } from "./audit-ports.ts";

/** Changes, newest first. */
export async function listAudit(
  { store }: AdminContext,
  input: z.output<typeof auditListSchema>,
): Promise<Page<AuditRecord>> {
  const { cursor, limit, ...filter } = input;
  const before = cursor === undefined ? undefined : readRevision(cursor);
  const found = await store.audit.list({ ...filter, before, limit: limit + 1 });
  const data = found.slice(0, limit);
  const last = data.at(-1);
  return { data, next: found.length > limit && last ? String(last.revision) : null };
}

function readRevision(cursor: string): bigint {
  if (/^\d{1,18}$/.test(cursor)) return BigInt(cursor);
  throw new AdminError(400, "cursor", "the cursor is not one of this list: use `next` of the page before");
}

/** A list of names from a query; unknown ones find nothing. */
const wordSchema = z.string().min(1).max(100);

const auditFilterSchema = z.strictObject({
  subject: z.string().optional(),
  kind: wordSchema.transform((kind) => kind as ChangeKind).optional(),
  action: wordSchema.transform((action) => action as AuditAction).optional(),
  actor: z.string().optional(),
  from: queryTimeSchema.optional(),
  to: queryTimeSchema.optional(),
});

export const auditListSchema = auditFilterSchema.extend(pageFields);
