import { JOB_STAGES } from "../../domain/job.ts";
import type { Exhausted, Granted } from "../../gateway/ports.ts";
import type { NewJob, Submission } from "../../jobs/ports.ts";
import { storeTime } from "../budgets/locked-budgets.ts";
import { take } from "../budgets/take.ts";
import { toColumn } from "../database/columns.ts";
import type { Database, Sql } from "../database/sql.ts";
import { countJobs, enterOwners } from "./job-owners.ts";
import { jobColumns, readJob, type JobRow } from "./job-row.ts";

/** How long an idempotency key belongs to its job. */
const IDEMPOTENCY_MS = 24 * 60 * 60_000;
/** A job's lease of a budget ends with the job and never by itself. */
const NEVER = 9_000_000_000_000_000;

/** Accepts a job in one transaction: it counts in the queue, its money is held, its row stands. */
export async function submitJob(kind: Database["kind"], sql: Sql, job: NewJob): Promise<Submission> {
  const { queuedLimit, terms } = job;
  const queued = await enterOwners(kind, sql, job, job.keyRunningLimit);
  const known = await findKnown(kind, sql, job);
  if (known) return known;
  for (const scope of ["organization", "key"] as const) {
    const limit = queuedLimit[scope];
    if (limit !== null && queued[scope] >= limit) return { kind: "full", scope, limit };
  }
  if (terms.budgets.length > 0) {
    const requests = terms.budgets.map((budget) => ({
      budget,
      needed: terms.ceiling,
      wanted: terms.ceiling,
    }));
    const result: Granted | Exhausted = await take(kind, sql, job.id, requests);
    if ("exhausted" in result) {
      const canWait = result.heldByOthers > 0n && result.left + result.heldByOthers >= terms.ceiling;
      return { kind: "exhausted", reason: canWait ? "held" : "spent", canWait };
    }
    await sql`UPDATE leases SET expires_at = ${NEVER} WHERE lease = ${job.id}`;
  }
  await countJobs(sql, job, { queued: 1 });
  return { kind: "accepted", job: readJob(await insert(kind, sql, job)) };
}

/** The job that the same idempotency key has made before. */
async function findKnown(
  kind: Database["kind"],
  sql: Sql,
  { keyId, idempotency }: NewJob,
): Promise<Submission | null> {
  if (!idempotency) return null;
  const { key, fingerprint } = idempotency;
  await sql`UPDATE jobs SET idempotency_key = NULL
    WHERE key_id = ${keyId} AND idempotency_key = ${key}
      AND created_at < ${storeTime(kind, sql)} - ${IDEMPOTENCY_MS}`;
  const [row] = await sql<(JobRow & { fingerprint: string })[]>`
    SELECT fingerprint, ${jobColumns(kind, sql)} FROM jobs
    WHERE key_id = ${keyId} AND idempotency_key = ${key}`;
  if (!row) return null;
  return row.fingerprint === fingerprint ? { kind: "known", job: readJob(row) } : { kind: "other" };
}

async function insert(kind: Database["kind"], sql: Sql, job: NewJob): Promise<JobRow> {
  const now = storeTime(kind, sql);
  const { idempotency } = job;
  const rows = await sql<JobRow[]>`
    INSERT INTO jobs (id, organization_id, key_id, request_id, model, status, stage, typical_ms, created_at,
      deadline_at, fence, is_cancel_requested, outputs, webhook_url, link_base, idempotency_key,
      fingerprint)
    VALUES (${job.id}, ${job.organizationId}, ${job.keyId}, ${job.requestId}, ${job.model}, 'pending',
      ${JOB_STAGES.queued}, ${job.typicalMs}, ${now}, ${now} + ${job.deadlineMs}, 0, 0, '[]', ${job.webhookUrl}, ${job.linkBase},
      ${idempotency?.key ?? null}, ${idempotency?.fingerprint ?? null})
    RETURNING ${jobColumns(kind, sql)}`;
  await sql`INSERT INTO job_requests (job_id, terms, request, files)
    VALUES (${job.id}, ${toColumn(job.terms)}, ${job.request}, ${toColumn(job.files)})`;
  const [row] = rows;
  if (!row) throw new Error("the job was not inserted");
  return row;
}
