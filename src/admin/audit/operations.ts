import { z } from "zod";
import { operation } from "../operation.ts";
import { figuresSchema, messageCodeSchema, pageOf } from "../output.ts";
import { auditSchema, type AuditAction, type AuditRecord, type ChangeKind } from "./schema.ts";
import { subjectNames } from "./subject-names.ts";
import { AdminError } from "../admin-error.ts";
import type { AdminContext } from "../context.ts";
import { queryTimeSchema } from "../input.ts";
import { pageFields, type Page } from "../paging.ts";
import { maskedAddress } from "../webhooks/shown-address.ts";

/** The name of a kind or an action in a query. An unknown name matches nothing. */
const wordSchema = z.string().min(1).max(100);

const auditFilterSchema = z.strictObject({
  subject: z.string().optional(),
  kind: wordSchema.transform((kind) => kind as ChangeKind).optional(),
  action: wordSchema.transform((action) => action as AuditAction).optional(),
  actor: z.string().optional(),
  from: queryTimeSchema.optional(),
  to: queryTimeSchema.optional(),
});

const auditListSchema = auditFilterSchema.extend(pageFields);

const verificationSchema = z.object({
  rows: z.int(),
  head: z.string().nullable().describe("Hash of the last row; keep it elsewhere and name it later"),
  faultCount: z.int(),
  faults: z
    .array(
      z.object({
        revision: z.int().nullable(),
        fault: z.string(),
        code: messageCodeSchema,
        figures: figuresSchema,
      }),
    )
    .describe("At most 100"),
});

export const auditOperations = {
  "audit.list": operation({
    method: "GET",
    path: "/audit",
    summary: "Changes, newest first",
    role: "viewer",
    reach: "organization",
    cost: "page",
    input: auditListSchema,
    output: pageOf(
      auditSchema.extend({
        subjectName: z.string().nullable().describe("Its name, as far as it has one; a price's is its model"),
      }),
    ),
    run: listAudit,
  }),
  "audit.verify": operation({
    method: "GET",
    path: "/audit/verify",
    summary: "Check the chain of hashes over all changes",
    role: "admin",
    reach: "installation",
    cost: "verification",
    input: z.strictObject({ head: z.string().optional().describe("A head that must be in the chain") }),
    output: verificationSchema,
    async run({ store }, { head }) {
      const { faults, ...verification } = await store.audit.verify(head);
      const views = faults.map(({ revision, fault, code }) => ({
        code,
        figures: {},
        revision: revision === null ? null : Number(revision),
        fault,
      }));
      return { ...verification, faults: views };
    },
  }),
};

/** Returns changes, newest first. */
async function listAudit(
  context: AdminContext,
  input: z.output<typeof auditListSchema>,
): Promise<Page<AuditRecord & { subjectName: string | null }>> {
  const { cursor, limit, ...filter } = input;
  const before = cursor === undefined ? undefined : readRevision(cursor);
  const found = await context.store.audit.list({ ...filter, before, limit: limit + 1 });
  const rows = found.slice(0, limit);
  const names = await subjectNames(context, rows);
  const data = rows.map((row) =>
    Object.assign({ subjectName: names.get(row.revision) ?? null }, withMaskedAddress(row)),
  );
  const last = data.at(-1);
  return { data, next: found.length > limit && last ? String(last.revision) : null };
}

/**
 * Returns the row with the path of a webhook's address masked, because the path may be a secret. The stored row
 * contains the path, because the hash of the row covers the path.
 */
function withMaskedAddress(row: AuditRecord): AuditRecord {
  if (row.kind !== "webhook") return row;
  const masked = (side: unknown): unknown =>
    typeof side === "object" && side !== null && "url" in side && typeof side.url === "string"
      ? { ...side, url: maskedAddress(side.url) }
      : side;
  return { ...row, before: masked(row.before), after: masked(row.after) };
}

function readRevision(cursor: string): bigint {
  if (/^\d{1,18}$/.test(cursor)) return BigInt(cursor);
  throw new AdminError(400, "cursor", "the cursor is not one of this list: use `next` of the page before");
}
