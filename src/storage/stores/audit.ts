import type { AuditRecord, AuditStore, ChangeKind } from "../../admin/ports.ts";
import type { Integer } from "../database/columns.ts";
import type { Database } from "../database/sql.ts";

export function auditStore(database: Database): AuditStore {
  return {
    async list({ subject, before, limit }) {
      const rows = await database.read(
        (sql) => sql<AuditRow[]>`SELECT * FROM audit WHERE 1 = 1
          ${subject === undefined ? sql`` : sql`AND subject = ${subject}`}
          ${before === undefined ? sql`` : sql`AND revision < ${before}`}
          ORDER BY revision DESC LIMIT ${limit}`,
      );
      return rows.map(readRow);
    },
  };
}

interface AuditRow {
  revision: Integer;
  at: Integer;
  actor: string;
  kind: ChangeKind;
  action: AuditRecord["action"];
  subject: string;
  before_change: string | null;
  after_change: string | null;
}

function readRow(row: AuditRow): AuditRecord {
  return {
    revision: BigInt(row.revision),
    at: Number(row.at),
    actor: row.actor,
    kind: row.kind,
    action: row.action,
    subject: row.subject,
    before: row.before_change === null ? null : JSON.parse(row.before_change),
    after: row.after_change === null ? null : JSON.parse(row.after_change),
  };
}
