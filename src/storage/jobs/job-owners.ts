import type { NewJob } from "../../jobs/ports.ts";
import { forUpdate, type Integer, jsonRows, skipLocked, storeTime } from "../database/expressions.ts";
import type { Database, Sql } from "../database/sql.ts";

/*
 * Rows of organizations and keys that have jobs. A transaction that changes the number of waiting or running jobs of an
 * organization first locks the organization's row. So the counts are exact, and transactions cannot deadlock.
 */

/** Counts the waiting jobs of an organization and its keys, including jobs that this transaction adds. */
export class QueuedCounts {
  #organization: number;
  readonly #keys: Map<string, number>;

  constructor(organization: number, keys: Map<string, number>) {
    this.#organization = organization;
    this.#keys = keys;
  }

  ofOrganization(): number {
    return this.#organization;
  }

  ofKey(keyId: string): number {
    return this.#keys.get(keyId) ?? 0;
  }

  add({ keyId }: OwnedJob): void {
    this.#organization += 1;
    this.#keys.set(keyId, this.ofKey(keyId) + 1);
  }
}

/**
 * Inserts the rows of the jobs' organization and keys if the rows are missing, and locks these rows. Updates the keys'
 * limits of running jobs. `now` is the store's time of the lock in Unix milliseconds.
 */
export async function enterOwners(
  kind: Database["kind"],
  sql: Sql,
  jobs: readonly NewJob[],
): Promise<{ queued: QueuedCounts; now: number }> {
  const organizationId = jobs[0]?.organizationId ?? "";
  const limits = new Map(jobs.map(({ keyId, keyRunningLimit }) => [keyId, keyRunningLimit]));
  // The rows are locked in the order of these tuples. The update locks and reads a row even if it changes nothing.
  const tuples = [[organizationId, null], ...limits].map(([id, limit]) => [id, organizationId, limit]);
  const rows = await sql<{ id: string; queued: Integer; now: Integer }[]>`
    INSERT INTO job_owners (id, organization_id, queued, running, turn, running_limit)
    SELECT value ->> 0, value ->> 1, 0, 0, 0, CAST(value ->> 2 AS BIGINT) FROM ${jsonRows(kind, sql, tuples)} WHERE true
    ON CONFLICT (id) DO UPDATE SET running_limit = excluded.running_limit
    RETURNING id, queued, ${storeTime(kind, sql)} AS now`;
  const queued = new Map(rows.map((row) => [row.id, Number(row.queued)]));
  const organization = rows.find(({ id }) => id === organizationId);
  return {
    queued: new QueuedCounts(queued.get(organizationId) ?? 0, queued),
    now: Number(organization?.now),
  };
}

/**
 * Returns the statement that counts new jobs of one organization and its keys as waiting. Lock the organization first.
 */
export function countQueued(kind: Database["kind"], sql: Sql, jobs: readonly OwnedJob[]) {
  const counts = new Map<string, number>();
  for (const { organizationId, keyId } of jobs)
    for (const id of [organizationId, keyId]) counts.set(id, (counts.get(id) ?? 0) + 1);
  return sql`UPDATE job_owners SET queued = queued + added.count
    FROM (SELECT value ->> 0 AS id, CAST(value ->> 1 AS BIGINT) AS count FROM ${jsonRows(kind, sql, [...counts])}) AS added
    WHERE job_owners.id = added.id`;
}

interface OwnedJob {
  organizationId: string;
  keyId: string;
}

export async function lockOrganization(
  kind: Database["kind"],
  sql: Sql,
  organizationId: string,
): Promise<void> {
  await sql`SELECT id FROM job_owners WHERE id = ${organizationId} ${forUpdate(kind, sql)}`;
}

/** Adds to the counts of a job's organization and key. Lock the organization first. */
export async function countJobs(
  sql: Sql,
  { organizationId, keyId }: OwnedJob,
  { queued = 0, running = 0 }: { queued?: number; running?: number },
): Promise<void> {
  await sql`UPDATE job_owners SET queued = queued + ${queued}, running = running + ${running}
    WHERE id IN (${organizationId}, ${keyId})`;
}

/** Moves the organization and the key of a job to the end of the queue, and counts the job as running. */
export async function takeTurn(sql: Sql, { organizationId, keyId }: OwnedJob): Promise<void> {
  await sql`UPDATE job_owners SET queued = queued - 1, running = running + 1,
    turn = (SELECT MAX(turn) FROM job_owners) + 1 WHERE id IN (${organizationId}, ${keyId})`;
}

/** Returns the organizations with queued jobs, in the order of their turns, each with its number of running jobs. */
export async function waitingOrganizations(sql: Sql): Promise<{ id: string; running: number }[]> {
  const rows = await sql<{ id: string; running: Integer }[]>`SELECT id, running FROM job_owners
    WHERE id = organization_id AND queued > 0 ORDER BY turn, id`;
  return rows.map(({ id, running }) => ({ id, running: Number(running) }));
}

/**
 * Locks an organization and returns its next key with a queued job that may run. Returns null when there is no such
 * key, and `busy` when another transaction has the lock or no job is queued any more.
 */
export async function nextKey(
  kind: Database["kind"],
  sql: Sql,
  organizationId: string,
  runningLimit: number | null,
): Promise<{ id: string } | "busy" | null> {
  const [organization] = await sql<{ running: Integer }[]>`SELECT running FROM job_owners
    WHERE id = ${organizationId} AND queued > 0 ${skipLocked(kind, sql)}`;
  if (!organization) return "busy";
  if (runningLimit !== null && Number(organization.running) >= runningLimit) return null;
  const [key] = await sql<{ id: string }[]>`SELECT id FROM job_owners
    WHERE organization_id = ${organizationId} AND id <> ${organizationId} AND queued > 0
      AND (running_limit IS NULL OR running < running_limit)
    ORDER BY turn, id LIMIT 1`;
  return key ?? null;
}
