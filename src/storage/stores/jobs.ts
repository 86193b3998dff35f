import type { JobAdminStore, JobRecord } from "../../admin/job-ports.ts";
import type { Integer } from "../database/columns.ts";
import type { Database, Sql } from "../database/sql.ts";
import { jobColumns, readJob, type JobRow } from "../jobs/job-row.ts";
import { ofOrganizations, pageBelow } from "./list-page.ts";

/** Jobs of all organizations, for administration. */
export function jobAdminStore(database: Database): JobAdminStore {
  const columns = (sql: Sql) => sql`${jobColumns(database.kind, sql)}, key_id, request_id, deadline_at`;
  return {
    async get(id) {
      const [row] = await database.read(
        (sql) => sql<AdminJobRow[]>`SELECT ${columns(sql)} FROM jobs WHERE id = ${id}`,
      );
      return row ? readRow(row) : null;
    },
    async list({ organizationId, organizationIds, keyId, model, statuses = [], from, to, ...page }) {
      const rows = await database.read(
        (sql) => sql<AdminJobRow[]>`SELECT ${columns(sql)} FROM jobs WHERE 1 = 1
          ${ofOrganizations(sql, { organizationId, organizationIds })}
          ${keyId === undefined ? sql`` : sql`AND key_id = ${keyId}`}
          ${model === undefined ? sql`` : sql`AND model = ${model}`}
          ${statuses.length === 0 ? sql`` : sql`AND status IN ${sql([...statuses])}`}
          ${from === undefined ? sql`` : sql`AND created_at >= ${from}`}
          ${to === undefined ? sql`` : sql`AND created_at < ${to}`}
          ${pageBelow(sql, page)}`,
      );
      return rows.map(readRow);
    },
  };
}

interface AdminJobRow extends JobRow {
  key_id: string;
  request_id: string;
  deadline_at: Integer;
}

function readRow(row: AdminJobRow): JobRecord {
  return {
    ...readJob(row),
    keyId: row.key_id,
    requestId: row.request_id,
    deadlineAt: Number(row.deadline_at),
  };
}
