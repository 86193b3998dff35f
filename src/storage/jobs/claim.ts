import type { ClaimedJob, JobLease, RunningLimit } from "../../jobs/ports.ts";
import { type Integer, jsonRows, skipLocked, storeTime } from "../database/expressions.ts";
import type { Database, Sql } from "../database/sql.ts";
import { bit, integer, named, table, text, time, type Row } from "../database/table.ts";
import { nextKey, takeTurn, waitingOrganizations } from "./job-owners.ts";
import { atLeast, jobRequests } from "./job-row.ts";

/** Time for which a lease lasts without renewal. Workers renew their leases every five seconds. */
const LEASE_MS = 20_000;

/**
 * Takes the lease of the next job, in one transaction. Returns null when no job may start now, and `busy` when a lock
 * of another worker may hide a job.
 */
export async function claimJob(
  kind: Database["kind"],
  sql: Sql,
  worker: string,
  runningLimit: RunningLimit,
): Promise<ClaimedJob | "busy" | null> {
  const abandoned = await findAbandoned(kind, sql);
  if (abandoned) return await take(kind, sql, abandoned, worker);
  let isBusy = false;
  for (const { id, running } of await waitingOrganizations(sql)) {
    const limit = runningLimit(id);
    if (limit !== null && running >= limit) continue;
    const key = await nextKey(kind, sql, id, limit);
    if (key === "busy") isBusy = true;
    if (key === null || key === "busy") continue;
    const queued = await findQueued(kind, sql, key.id);
    if (!queued) continue;
    await takeTurn(sql, { organizationId: id, keyId: key.id });
    return await take(kind, sql, queued, worker);
  }
  return isBusy ? "busy" : null;
}

/** Returns the id of a job whose worker released or did not renew its lease. Such a job already counts as running. */
async function findAbandoned(kind: Database["kind"], sql: Sql): Promise<string | null> {
  const [row] = await sql<{ id: string }[]>`SELECT id FROM jobs
    WHERE lease_until < (SELECT ${storeTime(kind, sql)}) ORDER BY lease_until LIMIT 1 ${skipLocked(kind, sql)}`;
  return row?.id ?? null;
}

async function findQueued(kind: Database["kind"], sql: Sql, keyId: string): Promise<string | null> {
  const [row] = await sql<{ id: string }[]>`SELECT id FROM jobs
    WHERE key_id = ${keyId} AND status = 'pending' AND lease_until IS NULL
    ORDER BY created_at, id LIMIT 1 ${skipLocked(kind, sql)}`;
  return row?.id ?? null;
}

type Claimed = Omit<ClaimedJob, "remainingMs" | "pickUpMs" | "isKeyUsable" | "terms" | "request" | "sent"> & {
  deadlineAt: number;
  claimedAt: number;
};

const claimedJobs = table<Claimed>("jobs", {
  jobId: named("id", text()),
  organizationId: text(),
  keyId: text(),
  fence: integer(),
  requestId: text(),
  model: text(),
  status: text(),
  createdAt: time(),
  isCancelRequested: bit(),
  deadlineAt: time(),
  claimedAt: time(),
});

async function take(
  kind: Database["kind"],
  sql: Sql,
  id: string,
  worker: string,
): Promise<ClaimedJob | null> {
  const now = storeTime(kind, sql);
  const [row] = await sql<Row[]>`UPDATE jobs SET worker = ${worker}, fence = fence + 1,
      lease_until = ${now} + ${LEASE_MS}, claimed_at = COALESCE(claimed_at, ${now}), stage = ${atLeast(sql, "claimed")}
    WHERE id = ${id} RETURNING ${sql.unsafe(claimedJobs.columns)}, ${now} AS now`;
  const request = jobRequests.first(
    await sql<Row[]>`SELECT ${sql.unsafe(jobRequests.columns)} FROM job_requests WHERE job_id = ${id}`,
  );
  if (!row || !request) return null;
  const { deadlineAt, claimedAt, ...job } = claimedJobs.read(row);
  const keys = await sql<object[]>`SELECT id FROM api_keys
    WHERE id = ${job.keyId} AND is_disabled = 0 AND deleted_at IS NULL
      AND (expires_at IS NULL OR expires_at > ${row["now"]})`;
  return {
    ...job,
    remainingMs: deadlineAt - Number(row["now"]),
    pickUpMs: job.fence === 1 ? claimedAt - job.createdAt : null,
    isKeyUsable: keys.length > 0,
    ...request,
  };
}

/** Prolongs leases; see `JobStore.renew`. */
export async function renewLeases(
  kind: Database["kind"],
  sql: Sql,
  leases: readonly JobLease[],
): Promise<Map<string, { isCancelRequested: boolean }>> {
  const tuples = leases.map(({ jobId, fence }) => [jobId, fence]);
  const rows = await sql<{ id: string; is_cancel_requested: Integer }[]>`
    UPDATE jobs SET lease_until = ${storeTime(kind, sql)} + ${LEASE_MS}
    FROM (SELECT value ->> 0 AS id, CAST(value ->> 1 AS BIGINT) AS fence FROM ${jsonRows(kind, sql, tuples)}) AS held
    WHERE jobs.id = held.id AND jobs.fence = held.fence AND lease_until IS NOT NULL
      AND status IN ('pending', 'in_progress')
    RETURNING jobs.id AS id, is_cancel_requested`;
  return new Map(
    rows.map(({ id, is_cancel_requested }) => [id, { isCancelRequested: Number(is_cancel_requested) === 1 }]),
  );
}

/** Ends leases, so that another worker can take the jobs over immediately. */
export async function releaseLeases(sql: Sql, leases: readonly JobLease[]): Promise<void> {
  for (const { jobId, fence } of leases)
    await sql`UPDATE jobs SET lease_until = 0 WHERE id = ${jobId} AND fence = ${fence} AND lease_until IS NOT NULL`;
}
