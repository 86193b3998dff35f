import { nextTurn } from "../../lib/waiting.ts";
import { lockBudgets } from "../budgets/locked-budgets.ts";
import { padded, storeTime } from "../database/expressions.ts";
import type { Database, Sql } from "../database/sql.ts";
import { endPending } from "./finish.ts";
import { lockOrganization } from "./job-owners.ts";
import { JOB } from "./job-row.ts";

const OVERDUE = { type: "timeout", message: "The job was not run before its deadline. Submit it again." };

/** Ends queued jobs whose deadline has passed; see `JobStore.endOverdue`. */
export async function endOverdue(
  kind: Database["kind"],
  sql: Sql,
  limit: number,
): Promise<{ count: number; files: string[] }> {
  const rows = await sql<{ id: string; organizationId: string; keyId: string }[]>`
    SELECT id, organization_id AS "organizationId", key_id AS "keyId" FROM jobs
    WHERE status = 'pending' AND lease_until IS NULL AND deadline_at < (SELECT ${storeTime(kind, sql)})
    ORDER BY deadline_at LIMIT ${limit}`;
  if (rows.length > 0) await lockAll(kind, sql, rows);
  const files: string[] = [];
  for (const job of rows) {
    const ended = await endPending(kind, sql, job, { status: "failed", error: OVERDUE });
    files.push(...(ended?.files ?? []));
    // On SQLite this work blocks the thread of requests, so requests get a turn between two jobs.
    await nextTurn();
  }
  return { count: rows.length, files };
}

/**
 * Locks the organizations of jobs, then the budgets that hold money for the jobs. The rows are locked in the order that
 * all transactions use.
 */
async function lockAll(
  kind: Database["kind"],
  sql: Sql,
  jobs: readonly { id: string; organizationId: string }[],
): Promise<void> {
  const organizations = new Set(jobs.map(({ organizationId }) => organizationId));
  for (const id of [...organizations].toSorted()) await lockOrganization(kind, sql, id);
  const leases = await sql<{ budget: string }[]>`SELECT budget FROM leases
    WHERE lease IN ${sql(padded(jobs.map(({ id }) => id)))}`;
  await lockBudgets(
    kind,
    sql,
    leases.map(({ budget }) => budget),
  );
}

/** Changes old completed jobs to `expired` and removes their outputs; see `JobStore.expire`. */
export async function expireJobs(
  kind: Database["kind"],
  sql: Sql,
  retentionMs: number,
  limit: number,
): Promise<{ count: number; names: string[] }> {
  const rows = await sql<{ id: string; outputs: string }[]>`SELECT id, outputs FROM jobs
    WHERE status = 'completed' AND created_at < (SELECT ${storeTime(kind, sql)}) - ${retentionMs}
    ORDER BY created_at LIMIT ${limit}`;
  for (const { id } of rows)
    await sql`UPDATE jobs SET status = 'expired', outputs = '[]' WHERE id = ${id} AND status = 'completed'`;
  const names = rows.flatMap(({ outputs }) => JOB.outputs.read(outputs).map(({ name }) => name));
  return { count: rows.length, names };
}

/** Removes the rows of ended jobs; see `JobStore.remove`. */
export async function removeJobs(
  kind: Database["kind"],
  sql: Sql,
  retentionMs: number,
  limit: number,
): Promise<number> {
  const rows = await sql<object[]>`DELETE FROM jobs WHERE id IN (SELECT id FROM jobs
      WHERE created_at < (SELECT ${storeTime(kind, sql)}) - ${retentionMs}
        AND status NOT IN ('pending', 'in_progress') ORDER BY created_at LIMIT ${limit}) RETURNING id`;
  return rows.length;
}
