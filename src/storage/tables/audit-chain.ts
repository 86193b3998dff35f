import { operatorMessage, type MessageCode } from "../../domain/operator-message.ts";
import { createHash } from "node:crypto";
import type { AuditRecord } from "../../admin/audit/schema.ts";
import type { AuditFault, AuditVerification } from "../../admin/audit/store-port.ts";
import type { Database, Sql } from "../database/sql.ts";
import { type Row, bigInteger, moneyJson, named, nullable, table, text, time } from "../database/table.ts";

export const audit = table<AuditRecord>("audit", {
  revision: bigInteger(),
  at: time(),
  actor: text(),
  source: nullable(text()),
  kind: text(),
  action: text(),
  subject: text(),
  organizationId: nullable(text()),
  before: named("before_change", nullable(moneyJson())),
  after: named("after_change", nullable(moneyJson())),
});

/** Columns that the hash of a row covers, in the order of hashing. */
const HASHED = [
  "revision",
  "at",
  "actor",
  "source",
  "kind",
  "action",
  "subject",
  "before_change",
  "after_change",
];

type ChainedRow = Row & { revision: bigint; previous_hash: string | null; hash: string | null };

const PAGE = 1_000;
const MAX_FAULTS = 100;

/** Returns the SHA-256 of a stored row in hexadecimal. The hash covers the previous hash, and so all earlier rows. */
export function hashOf(previous: string, row: Row): string {
  const fields = HASHED.map((column) => row[column] ?? null);
  const texts = fields.map((field) => (field === null ? null : String(field)));
  return createHash("sha256")
    .update(JSON.stringify([previous, ...texts]))
    .digest("hex");
}

/**
 * Compares every row with its hash and with the previous row, and the last row with the revision row. Whoever can write
 * to the database can also compute a new chain, so compare the head with a head that was stored elsewhere.
 */
export async function verifyAudit(database: Database, knownHead?: string): Promise<AuditVerification> {
  return await database.readConsistently(async (sql) => {
    const faults: AuditFault[] = [];
    let faultCount = 0;
    const report = (revision: bigint | null, code: ChainFault) => {
      faultCount += 1;
      if (faults.length < MAX_FAULTS)
        faults.push({ revision, code, fault: operatorMessage(code, {}).message });
    };
    let link = "";
    let rows = 0;
    let isHeadFound = knownHead === undefined;
    for await (const row of auditRows(sql)) {
      rows += 1;
      const { revision } = row;
      if (row.hash === null) {
        report(revision, "chain.unwritten");
        continue;
      }
      if (row.previous_hash !== link) report(revision, "chain.broken");
      if (row.hash !== hashOf(row.previous_hash ?? "", row)) report(revision, "chain.changed");
      link = row.hash;
      isHeadFound ||= link === knownHead;
    }
    const head =
      (await sql<{ audit_head: string | null }[]>`SELECT audit_head FROM revision`)[0]?.audit_head ?? null;
    if ((link === "" ? null : link) !== head) report(null, "chain.head");
    if (!isHeadFound) report(null, "chain.known");
    return { rows, head, faults, faultCount };
  });
}

type ChainFault = Extract<MessageCode, `chain.${string}`>;

/** Yields every row, oldest first. */
async function* auditRows(sql: Sql): AsyncGenerator<ChainedRow> {
  for (let after = -1n; ;) {
    const page = await sql<ChainedRow[]>`
      SELECT * FROM audit WHERE revision > ${after} ORDER BY revision LIMIT ${PAGE}`;
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = last.revision;
  }
}
