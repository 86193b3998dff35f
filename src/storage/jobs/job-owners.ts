import { forUpdate } from "../budgets/locked-budgets.ts";
import type { Integer } from "../database/columns.ts";
import type { Database, Sql } from "../database/sql.ts";

/*
 * Rows of organizations and keys that have jobs. Whoever changes how many jobs of an organization wait or run locks the
 * organization's row first, so that its counts are exact and no two transactions wait for each other in a circle.
 */

interface Owner {
  id: string;
  organizationId: string;
}

/** Makes the rows of an organization and its key where they are missing, and locks the organization's. */
export async function enterOwners(
  kind: Database["kind"],
  sql: Sql,
  { organizationId, keyId }: OwnedJob,
  keyRunningLimit: number | null,
): Promise<{ organization: number; key: number }> {
  await sql`INSERT INTO job_owners (id, organization_id, queued, running, turn)
    VALUES (${organizationId}, ${organizationId}, 0, 0, 0) ON CONFLICT (id) DO NOTHING`;
  await lockOrganization(kind, sql, organizationId);
  await sql`INSERT INTO job_owners (id, organization_id, queued, running, turn, running_limit)
    VALUES (${keyId}, ${organizationId}, 0, 0, 0, ${keyRunningLimit})
    ON CONFLICT (id) DO UPDATE SET running_limit = excluded.running_limit`;
  const rows = await sql<{ id: string; queued: Integer }[]>`
    SELECT id, queued FROM job_owners WHERE id IN (${organizationId}, ${keyId})`;
  const queued = (id: string) => Number(rows.find((row) => row.id === id)?.queued ?? 0);
  return { organization: queued(organizationId), key: queued(keyId) };
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
  change: { queued?: number; running?: number },
): Promise<void> {
  const { queued = 0, running = 0 } = change;
  await sql`UPDATE job_owners SET queued = queued + ${queued}, running = running + ${running}
    WHERE id IN (${organizationId}, ${keyId})`;
}

/** Moves a queued job's organization and key to the end of the turns, and counts the job as running. */
export async function takeTurn(sql: Sql, { organizationId, keyId }: OwnedJob): Promise<void> {
  await sql`UPDATE job_owners SET queued = queued - 1, running = running + 1,
    turn = (SELECT MAX(turn) FROM job_owners) + 1 WHERE id IN (${organizationId}, ${keyId})`;
}

/** Organizations with queued jobs and how many of theirs run, in the order of their turns. */
export async function waitingOrganizations(sql: Sql): Promise<{ id: string; running: number }[]> {
  const rows = await sql<{ id: string; running: Integer }[]>`SELECT id, running FROM job_owners
    WHERE id = organization_id AND queued > 0 ORDER BY turn, id`;
  return rows.map(({ id, running }) => ({ id, running: Number(running) }));
}

/**
 * Locks an organization and returns its next key with a queued job that may run; null where there is none, `busy` where
 * somebody else has the lock.
 */
export async function nextKey(
  kind: Database["kind"],
  sql: Sql,
  organizationId: string,
  runningLimit: number | null,
): Promise<Owner | "busy" | null> {
  const skipped = kind === "postgres" ? sql`FOR UPDATE SKIP LOCKED` : sql``;
  const [organization] = await sql<{ running: Integer }[]>`SELECT running FROM job_owners
    WHERE id = ${organizationId} AND queued > 0 ${skipped}`;
  if (!organization) return "busy";
  if (runningLimit !== null && Number(organization.running) >= runningLimit) return null;
  const [key] = await sql<{ id: string }[]>`SELECT id FROM job_owners
    WHERE organization_id = ${organizationId} AND id <> ${organizationId} AND queued > 0
      AND (running_limit IS NULL OR running < running_limit)
    ORDER BY turn, id LIMIT 1`;
  return key ? { id: key.id, organizationId } : null;
}
