import { JOB_STAGES, type Job } from "../../domain/job.ts";
import { exhaustionOf } from "../../gateway/metering/exhaustion-cache.ts";
import type { Exhausted, Granted } from "../../gateway/metering/stores.ts";
import type { NewJob, Submission } from "../../jobs/ports.ts";
import { lockBudgets } from "../budgets/locked-budgets.ts";
import { jsonRows, storeTime } from "../database/expressions.ts";
import { take } from "../budgets/take.ts";
import type { Database, Sql } from "../database/sql.ts";
import type { Row } from "../database/table.ts";
import { countQueued, enterOwners, type QueuedCounts } from "./job-owners.ts";
import { jobColumns, readJob, writeTerms } from "./job-row.ts";

/** Time for which an idempotency key belongs to its job. */
const IDEMPOTENCY_MS = 24 * 60 * 60_000;
/** The lease of a job on a budget ends with the job and never expires by itself. */
const NEVER = 9_000_000_000_000_000;

interface KnownJob {
  fingerprint: string;
  job: Job;
}

/**
 * Decides on jobs of one organization in their order, in one transaction. For an accepted job, counts it in the queue,
 * holds its money and writes its row. For a refused job, holds no money and writes no row.
 */
export async function submitJobs(
  kind: Database["kind"],
  sql: Sql,
  jobs: readonly NewJob[],
): Promise<Submission[]> {
  const { queued, now } = await enterOwners(kind, sql, jobs);
  const known = await findKnown(kind, sql, jobs, now);
  // Locks the budgets of all jobs together and in order. With one lock for each job, transactions could deadlock.
  await lockBudgets(
    kind,
    sql,
    jobs.flatMap(({ terms }) => terms.budgets),
  );
  const accepted: NewJob[] = [];
  const results: Submission[] = [];
  for (const job of jobs) {
    const refused = knownAs(known, job) ?? fullFor(queued, job) ?? (await exhaustedBy(kind, sql, job));
    if (refused) {
      results.push(refused);
      continue;
    }
    const queuedJob = newJob(job, now);
    accepted.push(job);
    queued.add(job);
    if (job.idempotency) known.set(nameOf(job), { fingerprint: job.idempotency.fingerprint, job: queuedJob });
    results.push({ kind: "accepted", job: queuedJob });
  }
  if (accepted.length > 0) await store(kind, sql, accepted, now);
  return results;
}

function nameOf({ keyId, idempotency }: Pick<NewJob, "keyId" | "idempotency">): string {
  return `${keyId} ${idempotency?.key}`;
}

/**
 * Returns the jobs that earlier submissions made with the idempotency keys of these jobs. First frees keys that are
 * older than `IDEMPOTENCY_MS`.
 */
async function findKnown(
  kind: Database["kind"],
  sql: Sql,
  jobs: readonly NewJob[],
  now: number,
): Promise<Map<string, KnownJob>> {
  const tuples = jobs.flatMap(({ keyId, idempotency }) => (idempotency ? [[keyId, idempotency.key]] : []));
  if (tuples.length === 0) return new Map();
  // With this form of the query SQLite uses its index. If pairs were compared with a list, SQLite would read all jobs.
  const isNamed = sql`id IN (SELECT named.id FROM ${jsonRows(kind, sql, tuples)} CROSS JOIN jobs AS named
    WHERE named.key_id = value ->> 0 AND named.idempotency_key = value ->> 1)`;
  await sql`UPDATE jobs SET idempotency_key = NULL WHERE ${isNamed} AND created_at < ${now - IDEMPOTENCY_MS}`;
  const rows = await sql<(Row & { key_id: string; idempotency_key: string; fingerprint: string })[]>`
    SELECT key_id, idempotency_key, fingerprint, ${jobColumns(kind, sql)} FROM jobs WHERE ${isNamed}`;
  return new Map(
    rows.map((row) => [
      `${row.key_id} ${row.idempotency_key}`,
      { fingerprint: row.fingerprint, job: readJob(row) },
    ]),
  );
}

/** See `JobStore.findSubmitted`. */
export async function findSubmitted(
  database: Database,
  keyId: string,
  idempotency: NonNullable<NewJob["idempotency"]>,
): Promise<Submission | null> {
  const { kind } = database;
  const [row] = await database.read(
    (sql) => sql<(Row & { fingerprint: string })[]>`
      SELECT fingerprint, ${jobColumns(kind, sql)} FROM jobs
      WHERE key_id = ${keyId} AND idempotency_key = ${idempotency.key}
        AND created_at >= ${storeTime(kind, sql)} - ${IDEMPOTENCY_MS}`,
  );
  return row ? sameAs({ fingerprint: row.fingerprint, job: readJob(row) }, idempotency) : null;
}

function knownAs(known: ReadonlyMap<string, KnownJob>, job: NewJob): Submission | null {
  const found = job.idempotency ? known.get(nameOf(job)) : undefined;
  return found && job.idempotency ? sameAs(found, job.idempotency) : null;
}

function sameAs({ fingerprint, job }: KnownJob, wanted: { fingerprint: string }): Submission {
  return fingerprint === wanted.fingerprint ? { kind: "known", job } : { kind: "other" };
}

function fullFor(queued: QueuedCounts, { keyId, queuedLimit }: NewJob): Submission | null {
  const counts = { organization: queued.ofOrganization(), key: queued.ofKey(keyId) };
  for (const scope of ["organization", "key"] as const) {
    const limit = queuedLimit[scope];
    if (limit !== null && counts[scope] >= limit) return { kind: "full", scope, limit };
  }
  return null;
}

/** Holds a job's money on each of its budgets. Returns the refusal when a budget has too little money. */
async function exhaustedBy(
  kind: Database["kind"],
  sql: Sql,
  { id, terms: { budgets, ceiling } }: NewJob,
): Promise<Submission | null> {
  if (budgets.length === 0) return null;
  const requests = budgets.map((budget) => ({ budget, needed: ceiling, wanted: ceiling }));
  const result: Granted | Exhausted = await take(kind, sql, id, requests);
  if ("exhausted" in result) {
    return { kind: "exhausted", reason: exhaustionOf(result, ceiling, 0n).refusal };
  }
  await sql`UPDATE leases SET expires_at = ${NEVER} WHERE lease = ${id}`;
  return null;
}

function newJob({ id, organizationId, model, typicalMs }: NewJob, now: number): Job {
  return {
    id,
    organizationId,
    model,
    status: "pending",
    stage: JOB_STAGES.queued,
    typicalMs,
    createdAt: now,
    startedAt: null,
    endedAt: null,
    readAt: now,
    isCancelRequested: false,
    outputs: [],
    error: null,
  };
}

async function store(kind: Database["kind"], sql: Sql, jobs: readonly NewJob[], now: number): Promise<void> {
  const counted = countQueued(kind, sql, jobs);
  const inserted = insertJobs(kind, sql, jobs, now);
  const requests = jobs.map(({ id, terms, request, files }) => [
    id,
    writeTerms(terms),
    request,
    JSON.stringify(files),
  ]);
  const kept = sql`INSERT INTO job_requests (job_id, terms, request, files)
    SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM ${jsonRows(kind, sql, requests)}`;
  // No statement reads what another one writes, so PostgreSQL can run all statements in one round trip.
  if (kind === "postgres") await sql`WITH counted AS (${counted}), inserted AS (${inserted}) ${kept}`;
  else for (const statement of [counted, inserted, kept]) await statement;
}

function insertJobs(kind: Database["kind"], sql: Sql, jobs: readonly NewJob[], now: number) {
  const rows = jobs.map((job) => [
    job.id,
    job.organizationId,
    job.keyId,
    job.requestId,
    job.model,
    job.typicalMs,
    now + job.deadlineMs,
    job.webhookUrl?.toWellFormed(),
    job.linkBase,
    job.idempotency?.key,
    job.idempotency?.fingerprint,
  ]);
  return sql`INSERT INTO jobs (id, organization_id, key_id, request_id, model, typical_ms, deadline_at, webhook_url,
      link_base, idempotency_key, fingerprint, status, stage, created_at, fence, is_cancel_requested, outputs)
    SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, CAST(value ->> 5 AS BIGINT),
      CAST(value ->> 6 AS BIGINT), value ->> 7, value ->> 8, value ->> 9, value ->> 10,
      'pending', CAST(${JOB_STAGES.queued} AS BIGINT), CAST(${now} AS BIGINT), 0, 0, '[]'
    FROM ${jsonRows(kind, sql, rows)}`;
}
