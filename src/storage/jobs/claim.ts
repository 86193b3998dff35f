import type { ClaimedJob, JobLease, RunningLimit, SentJob } from "../../jobs/ports.ts";
import { skipLocked, storeTime } from "../budgets/locked-budgets.ts";
import type { Integer } from "../database/columns.ts";
import { jsonRows } from "../database/json-rows.ts";
import type { Database, Sql } from "../database/sql.ts";
import { nextKey, takeTurn, waitingOrganizations } from "./job-owners.ts";
import { atLeast, readTerms } from "./job-row.ts";

/** How long a lease lasts without renewal. Workers renew every five seconds. */
const LEASE_MS = 20_000;

/** Takes the lease of the next job, in one transaction; `busy` when a lock of somebody else may hide one. */
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

/** A job whose worker has not renewed its lease. It counts as running already. */
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

interface ClaimedRow {
  id: string;
  organization_id: string;
  key_id: string;
  request_id: string;
  model: string;
  status: "pending" | "in_progress";
  created_at: Integer;
  deadline_at: Integer;
  claimed_at: Integer;
  fence: Integer;
  is_cancel_requested: Integer;
  now: Integer;
}

async function take(
  kind: Database["kind"],
  sql: Sql,
  id: string,
  worker: string,
): Promise<ClaimedJob | null> {
  const now = storeTime(kind, sql);
  const [row] = await sql<ClaimedRow[]>`UPDATE jobs SET worker = ${worker}, fence = fence + 1,
      lease_until = ${now} + ${LEASE_MS}, claimed_at = COALESCE(claimed_at, ${now}), stage = ${atLeast(sql, "claimed")}
    WHERE id = ${id} RETURNING id, organization_id, key_id, request_id, model, status, created_at, deadline_at,
      claimed_at, fence, is_cancel_requested, ${now} AS now`;
  const [request] = await sql<{ terms: string; sent: string | null; request: string }[]>`
    SELECT terms, sent, request FROM job_requests WHERE job_id = ${id}`;
  if (!row || !request) return null;
  const keys = await sql<object[]>`SELECT id FROM api_keys
    WHERE id = ${row.key_id} AND is_disabled = 0 AND deleted_at IS NULL
      AND (expires_at IS NULL OR expires_at > ${row.now})`;
  const isFirst = Number(row.fence) === 1;
  return {
    jobId: row.id,
    organizationId: row.organization_id,
    keyId: row.key_id,
    fence: Number(row.fence),
    requestId: row.request_id,
    model: row.model,
    status: row.status,
    createdAt: Number(row.created_at),
    remainingMs: Number(row.deadline_at) - Number(row.now),
    pickUpMs: isFirst ? Number(row.claimed_at) - Number(row.created_at) : null,
    isCancelRequested: Number(row.is_cancel_requested) === 1,
    isKeyUsable: keys.length > 0,
    terms: readTerms(request.terms),
    request: request.request,
    sent: request.sent === null ? null : (JSON.parse(request.sent) as SentJob),
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

/** Lets another worker take jobs over at once. */
export async function releaseLeases(sql: Sql, leases: readonly JobLease[]): Promise<void> {
  for (const { jobId, fence } of leases)
    await sql`UPDATE jobs SET lease_until = 0 WHERE id = ${jobId} AND fence = ${fence} AND lease_until IS NOT NULL`;
}
