import type { Job } from "../../domain/job.ts";
import type { JobStore } from "../../jobs/ports.ts";
import { padded } from "../budgets/locked-budgets.ts";
import { inBatches } from "../database/in-batches.ts";
import type { Database } from "../database/sql.ts";
import type { Row } from "../database/table.ts";
import { isJobId, jobColumns, readJob } from "./job-row.ts";

/**
 * Reads jobs by id; see `JobStore.get`. Those that are asked for at once come in one query. It begins after all of them
 * were asked for, so each is as it was then or newer.
 */
export function jobFinder(database: Database): JobStore["get"] {
  const { kind } = database;
  const find = async (ids: readonly string[]): Promise<(Job | undefined)[]> => {
    const rows = await database.read(
      (sql) => sql<Row[]>`SELECT ${jobColumns(kind, sql)} FROM jobs WHERE id IN ${sql(padded(ids))}`,
    );
    const byId = new Map(rows.map(readJob).map((job) => [job.id, job]));
    return ids.map((id) => byId.get(id));
  };
  const gathered = inBatches({ laneOf: () => "", run: find });
  // A query on SQLite is no round trip, and over before another one could join it.
  const findOne = kind === "sqlite" ? async (id: string) => (await find([id]))[0] : gathered;
  return async (organizationId, id) => {
    const job = isJobId(id) ? await findOne(id) : null;
    return job?.organizationId === organizationId ? job : null;
  };
}
