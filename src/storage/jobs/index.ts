import type { JobStore } from "../../jobs/ports.ts";
import { type Integer, padded, storeTime, toColumn } from "../database/expressions.ts";
import type { Database } from "../database/sql.ts";
import type { Row } from "../database/table.ts";
import { sleep } from "../../lib/waiting.ts";
import { cancelJob, finishJob } from "./finish.ts";
import { claimJob, releaseLeases, renewLeases } from "./claim.ts";
import { groupCommit } from "./group-commit.ts";
import { atLeast, isHeld, isJobId, jobColumns, readJob } from "./job-row.ts";
import { endOverdue, expireJobs, removeJobs } from "./retention.ts";
import { findSubmitted } from "./submit.ts";
import type { Job } from "../../domain/job.ts";
import { inBatches } from "../database/in-batches.ts";
import { random } from "../../lib/random.ts";

/** The channel for notifications between processes on PostgreSQL. */
const CHANNEL = "gateway_jobs";
/** Maximum number of attempts when a lock hides a job. Locks are held for a few milliseconds. */
const MAX_BUSY_CLAIMS = 8;
const BUSY_CLAIM_MS = 4;

/** Jobs in the database: their queue, their leases and their ends. */
export function jobStore(database: Database): JobStore {
  const { kind } = database;
  const notify = () => database.notify(CHANNEL);
  return {
    submit: groupCommit(database, notify),
    findSubmitted: (keyId, idempotency) => findSubmitted(database, keyId, idempotency),
    get: jobFinder(database),
    async list(organizationId, { limit, offset, statuses, createdFrom, createdTo }) {
      const rows = await database.read(
        (sql) => sql<
          Row[]
        >`SELECT ${jobColumns(kind, sql)} FROM jobs WHERE organization_id = ${organizationId}
          ${statuses.length === 0 ? sql`` : sql`AND status IN ${sql([...statuses])}`}
          ${createdFrom === null ? sql`` : sql`AND created_at >= ${createdFrom}`}
          ${createdTo === null ? sql`` : sql`AND created_at < ${createdTo}`}
          ORDER BY created_at DESC, id DESC LIMIT ${limit} OFFSET ${offset}`,
      );
      return rows.map(readJob);
    },
    async cancel(organizationId, id) {
      if (!isJobId(id)) return null;
      const cancelled = await database.begin((sql) => cancelJob(kind, sql, organizationId, id));
      if (cancelled?.job.status === "in_progress") notify();
      return cancelled;
    },
    ...leaseMethods(database),
    finish: (lease, ending) => database.begin((sql) => finishJob(kind, sql, lease, ending)),
    endOverdue: (limit) => database.begin((sql) => endOverdue(kind, sql, limit)),
    expire: (retentionMs, limit) => database.begin((sql) => expireJobs(kind, sql, retentionMs, limit)),
    remove: (retentionMs, limit) => database.begin((sql) => removeJobs(kind, sql, retentionMs, limit)),
    async queues() {
      const rows = await database.read(
        (sql) => sql<{ id: string; queued: Integer; running: Integer; oldest: Integer | null }[]>`
          SELECT id, queued, running, (SELECT ${storeTime(kind, sql)}) - (SELECT MIN(created_at) FROM jobs
            WHERE status = 'pending' AND lease_until IS NULL AND key_id IN (SELECT id FROM job_owners AS keys
              WHERE keys.organization_id = job_owners.id AND keys.queued > 0)) AS oldest
          FROM job_owners WHERE id = organization_id AND (queued > 0 OR running > 0) ORDER BY id`,
      );
      return rows.map(({ id, queued, running, oldest }) => ({
        organizationId: id,
        queued: Number(queued),
        running: Number(running),
        oldestMs: Number(oldest ?? 0),
      }));
    },
    wakes: (wake) => database.listen(CHANNEL, wake),
  };
}

type LeaseMethods = Pick<
  JobStore,
  | "hasWork"
  | "claim"
  | "renew"
  | "cancelling"
  | "send"
  | "rememberVendorJobs"
  | "store"
  | "release"
  | "releaseAll"
>;

function leaseMethods(database: Database): LeaseMethods {
  const { kind } = database;
  return {
    async hasWork() {
      const rows = await database.read(
        (sql) => sql<object[]>`SELECT id FROM job_owners WHERE id = organization_id AND queued > 0
          UNION ALL SELECT id FROM jobs WHERE lease_until < (SELECT ${storeTime(kind, sql)}) LIMIT 1`,
      );
      return rows.length > 0;
    },
    async claim(worker, runningLimit) {
      for (let attempt = 1; ; attempt += 1) {
        const claimed = await database.begin((sql) => claimJob(kind, sql, worker, runningLimit));
        if (claimed !== "busy") return claimed;
        if (attempt === MAX_BUSY_CLAIMS) return null;
        await sleep(random() * BUSY_CLAIM_MS * attempt);
      }
    },
    renew: (leases) => database.begin((sql) => renewLeases(kind, sql, leases)),
    async cancelling(worker) {
      const rows = await database.read(
        (sql) => sql<{ id: string }[]>`SELECT id FROM jobs
          WHERE worker = ${worker} AND is_cancel_requested = 1 AND lease_until IS NOT NULL`,
      );
      return rows.map(({ id }) => id);
    },
    send: (lease, target) =>
      database.begin(async (sql) => {
        const now = storeTime(kind, sql);
        const rows = await sql<
          object[]
        >`UPDATE jobs SET status = 'in_progress', stage = ${atLeast(sql, "sent")},
            started_at = COALESCE(started_at, ${now}) WHERE ${isHeld(sql, lease)} RETURNING id`;
        if (rows.length === 0) return false;
        await sql`UPDATE job_requests SET sent = ${toColumn({ ...target, vendorJobs: {} })}
          WHERE job_id = ${lease.jobId}`;
        return true;
      }),
    rememberVendorJobs: (lease, sent) =>
      database.begin(async (sql) => {
        const rows = await sql<object[]>`UPDATE job_requests SET sent = ${toColumn(sent)}
          WHERE job_id = ${lease.jobId}
            AND EXISTS (SELECT 1 FROM jobs WHERE ${isHeld(sql, lease)}) RETURNING job_id`;
        return rows.length > 0;
      }),
    store: (lease) =>
      database.begin(async (sql) => {
        const rows = await sql<object[]>`UPDATE jobs SET stage = ${atLeast(sql, "storing")}
          WHERE ${isHeld(sql, lease)} RETURNING id`;
        return rows.length > 0;
      }),
    release: (leases) => database.begin((sql) => releaseLeases(sql, leases)),
    releaseAll: (worker) =>
      database.begin(async (sql) => {
        await sql`UPDATE jobs SET lease_until = 0 WHERE worker = ${worker} AND lease_until IS NOT NULL`;
      }),
  };
}

/**
 * Reads jobs by id; see `JobStore.get`. Calls that arrive together share one query. The query begins after all these
 * calls, so no caller gets an outdated job.
 */
function jobFinder(database: Database): JobStore["get"] {
  const { kind } = database;
  const find = async (ids: readonly string[]): Promise<(Job | undefined)[]> => {
    const rows = await database.read(
      (sql) => sql<Row[]>`SELECT ${jobColumns(kind, sql)} FROM jobs WHERE id IN ${sql(padded(ids))}`,
    );
    const byId = new Map(rows.map(readJob).map((job) => [job.id, job]));
    return ids.map((id) => byId.get(id));
  };
  const gathered = inBatches({ laneOf: () => "", run: find });
  // Calls are not gathered on SQLite: a query makes no round trip and ends before another call could join it.
  const findOne = kind === "sqlite" ? async (id: string) => (await find([id]))[0] : gathered;
  return async (organizationId, id) => {
    const job = isJobId(id) ? await findOne(id) : null;
    return job?.organizationId === organizationId ? job : null;
  };
}
