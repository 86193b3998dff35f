import { z } from "zod";
import type { ConfigurationKind } from "../configuration/store-port.ts";
import type { MemberAction } from "../members/store-port.ts";
import { timeCodec } from "../output.ts";

/** Kinds of subjects of audit rows. Running gateways reload only the kinds that changed. */
export type ChangeKind =
  | "organization"
  | "key"
  | "price"
  | "budget"
  | "member"
  | "admin token"
  | "ledger"
  | "link secret"
  | "webhook"
  | "alert"
  | "prompt"
  | "mail"
  | "export"
  | ConfigurationKind;

export type AuditAction =
  | "create"
  | "update"
  | "remove"
  | "rotate"
  | "refund"
  | "correct prices"
  | "archive"
  | "redeliver"
  | "read"
  | "reseal"
  | "test"
  | "list models"
  | "use"
  | MemberAction;

/** A revision, stored as a bigint and shown as a number. */
const revisionCodec = z.codec(z.int(), z.bigint(), { decode: BigInt, encode: Number });

export const auditSchema = z.object({
  revision: revisionCodec.describe("Rises by one with each change"),
  at: timeCodec,
  actor: z.string().describe("Who made the change"),
  source: z.string().nullable().describe("Where it came from, such as cli/ada@host"),
  kind: z.string().describe("What was changed, such as key"),
  action: z.string().describe("What was done, such as create"),
  subject: z.string().describe("Id of what was changed"),
  before: z.unknown().describe("The row before, without secrets; null where it was made"),
  after: z.unknown().describe("The row afterwards; null where it was removed"),
});

/** A stored row of the audit, which is never changed or removed. Amounts in `before` and `after` are decimals. */
export type AuditRecord = z.output<typeof auditSchema> & {
  kind: ChangeKind;
  action: AuditAction;
  /** Organization of the row; null for the installation. */
  organizationId: string | null;
};
