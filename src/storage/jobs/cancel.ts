import type { Job } from "../../domain/job.ts";
import type { Database, Sql } from "../database/sql.ts";
import type { Row } from "../database/table.ts";
import { endPending } from "./finish.ts";
import { lockOrganization } from "./job-owners.ts";
import { jobColumns, readJob } from "./job-row.ts";

/** Cancels a pending job at once and requests it of a running one; see `JobStore.cancel`. */
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
