import type { AuditStore } from "../../admin/ports.ts";
import type { Database } from "../database/sql.ts";
import type { Row } from "../database/table.ts";
import { ofOrganizations } from "./list-page.ts";
import { makeChange } from "./change.ts";
import { audit, verifyAudit } from "./audit-chain.ts";

export function auditStore(database: Database): AuditStore {
  return {
    async note({ detail, organizationId, ...change }) {
      await makeChange(database, change, async () => ({ before: null, after: detail, organizationId }));
    },
    async list({ subject, organizationIds, kind, action, actor, from, to, before, limit }) {
      const rows = await database.read(
        (sql) => sql<Row[]>`SELECT * FROM audit WHERE 1 = 1
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
      return rows.map(audit.read);
    },
    verify: (knownHead) => verifyAudit(database, knownHead),
  };
}
