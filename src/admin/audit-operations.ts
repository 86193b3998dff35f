import { z } from "zod";
import { auditListSchema, listAudit } from "./audit.ts";
import { operation } from "./operation.ts";
import { isoTime, isoTimeSchema, pageOf } from "./output.ts";
import type { AuditRecord } from "./audit-ports.ts";

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
