import { z } from "zod";
import { operation } from "../operation.ts";
import { isoTime, isoTimeSchema, pageOf } from "../output.ts";
import type { AuditAction, AuditRecord, ChangeKind } from "./store-port.ts";
import { AdminError } from "../admin-error.ts";
import type { AdminContext } from "../context.ts";
import { queryTimeSchema } from "../input.ts";
import { pageFields, type Page } from "../paging.ts";

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

const auditListSchema = auditFilterSchema.extend(pageFields);

const auditSchema = z.object({
  revision: z.int().describe("Rises by one with each change"),
  at: isoTimeSchema,
  actor: z.string().describe("Who made the change"),
  source: z.string().nullable().describe("Where it came from, such as cli/ada@host"),
  kind: z.string().describe("What was changed, such as key"),
  action: z.string().describe("What was done, such as create"),
  subject: z.string().describe("Id of what was changed"),
  before: z.unknown().describe("The row before, without secrets; null where it was made"),
  after: z.unknown().describe("The row afterwards; null where it was removed"),
});

const verificationSchema = z.object({
  rows: z.int(),
  head: z.string().nullable().describe("Hash of the last row; keep it elsewhere and name it later"),
  faultCount: z.int(),
  faults: z.array(z.object({ revision: z.int().nullable(), fault: z.string() })).describe("At most 100"),
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
    output: pageOf(auditSchema),
    async run(context, input) {
      const { data, next } = await listAudit(context, input);
      return { data: data.map(toAuditView), next };
    },
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
      const views = faults.map(({ revision, fault }) => ({
        revision: revision === null ? null : Number(revision),
        fault,
      }));
      return { ...verification, faults: views };
    },
  }),
};

export type AuditView = z.output<typeof auditSchema>;

function toAuditView({ revision, at, ...shown }: AuditRecord): AuditView {
  return { ...shown, revision: Number(revision), at: isoTime(at) };
}

/** Changes, newest first. */
async function listAudit(
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
