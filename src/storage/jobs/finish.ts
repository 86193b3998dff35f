import { JOB_STAGES, type Job, type JobError, type JobStatus } from "../../domain/job.ts";
import type { JobEnding, JobLease } from "../../jobs/ports.ts";
import { releaseLease } from "../budgets/leases.ts";
import { storeTime, toColumn, toNullableColumn } from "../database/expressions.ts";
import type { Database, Sql } from "../database/sql.ts";
import type { Row } from "../database/table.ts";
import { bookInTransaction } from "../tables/booking.ts";
import { countJobs, lockOrganization } from "./job-owners.ts";
import { announceEnd } from "./webhooks.ts";
import { isHeld, jobColumns, readJob } from "./job-row.ts";

/**
 * Ends a running job, with all changes that belong to its end, in one transaction. Returns false when the lease is
 * gone.
 */
export async function finishJob(
  kind: Database["kind"],
  sql: Sql,
  lease: JobLease,
  ending: JobEnding,
): Promise<boolean> {
  await lockOrganization(kind, sql, lease.organizationId);
  const [row] = await sql<Row[]>`UPDATE jobs SET ${ended(kind, sql, ending)},
      outputs = ${toColumn(ending.outputs)} WHERE ${isHeld(sql, lease)}
    RETURNING ${jobColumns(kind, sql)}`;
  if (!row) return false;
  await countJobs(sql, lease, { running: -1 });
  if (ending.entry) await bookInTransaction(kind, sql, lease.jobId, [ending.entry]);
  await settleEnd(kind, sql, row);
  return true;
}

/** Ends a job for which no vendor was called yet. Returns null for any other job. Lock the job's organization first. */
export async function endPending(
  kind: Database["kind"],
  sql: Sql,
  { id, organizationId, keyId }: { id: string; organizationId: string; keyId: string },
  ending: { status: JobStatus; error: JobError | null },
): Promise<{ row: Row; files: string[] } | null> {
  const [before] = await sql<{ isRunning: number | bigint }[]>`
    SELECT CASE WHEN lease_until IS NULL THEN 0 ELSE 1 END AS "isRunning" FROM jobs WHERE id = ${id}`;
  const [row] = await sql<Row[]>`UPDATE jobs SET ${ended(kind, sql, ending)}
    WHERE id = ${id} AND status = 'pending' RETURNING ${jobColumns(kind, sql)}`;
  if (!row) return null;
  const isRunning = Number(before?.isRunning) === 1;
  await countJobs(sql, { organizationId, keyId }, isRunning ? { running: -1 } : { queued: -1 });
  return { row, files: await settleEnd(kind, sql, row) };
}

function ended(
  kind: Database["kind"],
  sql: Sql,
  { status, error }: { status: JobStatus; error: JobError | null },
) {
  const stage = status === "completed" ? sql`${JOB_STAGES.completed}` : sql`stage`;
  return sql`status = ${status}, stage = ${stage}, ended_at = ${storeTime(kind, sql)}, lease_until = NULL,
    error = ${toNullableColumn(error)}`;
}

/**
 * Frees the part of a job's hold that was not charged, deletes its stored request, and announces its end. Returns the
 * names of the request's files.
 */
async function settleEnd(kind: Database["kind"], sql: Sql, row: Row): Promise<string[]> {
  const { id, organizationId, status } = readJob(row);
  await releaseLease(kind, sql, id);
  const [request] = await sql<{ files: string | null }[]>`DELETE FROM job_requests WHERE job_id = ${id}
    RETURNING files`;
  await announceEnd(kind, sql, { id, organizationId, status });
  return JSON.parse(request?.files ?? "[]");
}

/** Cancels a pending job immediately, and marks a running job for cancellation; see `JobStore.cancel`. */
export async function cancelJob(
  kind: Database["kind"],
  sql: Sql,
  organizationId: string,
  id: string,
): Promise<{ job: Job; files: string[] } | null> {
  const [found] = await sql<{ keyId: string; status: string }[]>`SELECT key_id AS "keyId", status FROM jobs
    WHERE id = ${id} AND organization_id = ${organizationId}`;
  if (!found) return null;
  if (found.status === "pending") {
    await lockOrganization(kind, sql, organizationId);
    const job = { id, organizationId, keyId: found.keyId };
    const ended = await endPending(kind, sql, job, { status: "cancelled", error: null });
    if (ended) return { job: readJob(ended.row), files: ended.files };
  }
  const [row] = await sql<Row[]>`UPDATE jobs SET is_cancel_requested = 1
    WHERE id = ${id} AND status = 'in_progress' RETURNING ${jobColumns(kind, sql)}`;
  if (row) return { job: readJob(row), files: [] };
  const [ended] = await sql<Row[]>`SELECT ${jobColumns(kind, sql)} FROM jobs WHERE id = ${id}`;
  return ended ? { job: readJob(ended), files: [] } : null;
}
