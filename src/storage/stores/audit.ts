import type { AuditRecord, AuditStore } from "../../admin/ports.ts";
import type { Database } from "../database/sql.ts";
import { ofOrganizations } from "./list-page.ts";
import { makeChange } from "./change.ts";
import { verifyAudit, type AuditRow } from "./audit-chain.ts";

export function auditStore(database: Database): AuditStore {
  return {
    async note({ detail, organizationId, ...change }) {
      await makeChange(database, change, async () => ({ before: null, after: detail, organizationId }));
    },
    async list({ subject, organizationIds, kind, action, actor, from, to, before, limit }) {
      const rows = await database.read(
        (sql) => sql<ReadableRow[]>`SELECT * FROM audit WHERE 1 = 1
          ${subject === undefined ? sql`` : sql`AND subject = ${subject}`}
          ${ofOrganizations(sql, { organizationIds })}
          ${kind === undefined ? sql`` : sql`AND kind = ${kind}`}
          ${action === undefined ? sql`` : sql`AND action = ${action}`}
          ${actor === undefined ? sql`` : sql`AND actor = ${actor}`}
          ${from === undefined ? sql`` : sql`AND at >= ${from}`}
          ${to === undefined ? sql`` : sql`AND at < ${to}`}
          ${before === undefined ? sql`` : sql`AND revision < ${before}`}
          ORDER BY revision DESC LIMIT ${limit}`,
      );
      return rows.map(readRow);
    },
    verify: (knownHead) => verifyAudit(database, knownHead),
  };
}

/** Kind and action were written here, so their values are trusted. */
type ReadableRow = AuditRow & Pick<AuditRecord, "kind" | "action"> & { organization_id: string | null };

function readRow(row: ReadableRow): AuditRecord {
  return {
    revision: BigInt(row.revision),
    at: Number(row.at),
    actor: row.actor,
    source: row.source,
    kind: row.kind,
    action: row.action,
    subject: row.subject,
    organizationId: row.organization_id,
    before: row.before_change === null ? null : JSON.parse(row.before_change),
    after: row.after_change === null ? null : JSON.parse(row.after_change),
  };
}
