import type { JobAdminStore, JobRecord } from "../../admin/jobs/store-port.ts";
import type { Database, Sql } from "../database/sql.ts";
import { table, text, time, type Row } from "../database/table.ts";
import { JOB } from "../jobs/job-row.ts";
import { storeTime } from "../database/expressions.ts";
import { ofOrganizations, pageBelow } from "./list-page.ts";

const jobs = table<Omit<JobRecord, "readAt">>("jobs", {
  ...JOB,
  keyId: text(),
  requestId: text(),
  deadlineAt: time(),
});

/** Jobs of all organizations, for administration. */
export function jobAdminStore(database: Database): JobAdminStore {
  const columns = (sql: Sql) => sql`${sql.unsafe(jobs.columns)}, ${storeTime(database.kind, sql)} AS read_at`;
  return {
    async get(id) {
      const [row] = await database.read(
        (sql) => sql<Row[]>`SELECT ${columns(sql)} FROM jobs WHERE id = ${id}`,
      );
      return row ? readRow(row) : null;
    },
    async list({ organizationId, organizationIds, keyId, model, statuses = [], from, to, ...page }) {
      const rows = await database.read(
        (sql) => sql<Row[]>`SELECT ${columns(sql)} FROM jobs WHERE 1 = 1
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

function readRow(row: Row): JobRecord {
  return Object.assign(jobs.read(row), { readAt: Number(row["read_at"]) });
}
