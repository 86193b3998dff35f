import { every, type BackgroundWork } from "../lib/waiting.ts";
import { storeTime } from "./database/expressions.ts";
import type { Database } from "./database/sql.ts";

/** Announces this process in the database, and counts the live processes on all machines. */
interface LiveProcesses extends BackgroundWork {
  /** Number of live processes, including this process. While the database is unavailable, the last known number. */
  count(): number;
}

const ANNOUNCE_MS = 5000;
/** Maximum age of an announcement, by the database's clock. A process with an older announcement counts as dead. */
const ALIVE_MS = 20_000;

export async function announceProcess(
  database: Database,
  processId: string,
  onProblem: (error: unknown) => void,
): Promise<LiveProcesses> {
  const { kind } = database;
  let count = 1;
  const announce = async () => {
    count = await database.begin(async (sql) => {
      await sql`INSERT INTO processes (id, alive_at) VALUES (${processId}, ${storeTime(kind, sql)})
        ON CONFLICT (id) DO UPDATE SET alive_at = excluded.alive_at`;
      await sql`DELETE FROM processes WHERE alive_at < ${storeTime(kind, sql)} - ${ALIVE_MS}`;
      const [row] = await sql<{ count: bigint | number }[]>`SELECT COUNT(*) AS count FROM processes`;
      return Number(row?.count ?? 1);
    });
  };
  await announce();
  const work = every(ANNOUNCE_MS, announce, onProblem);
  return {
    count: () => Math.max(1, count),
    async stop() {
      await work.stop();
      await database.begin((sql) => sql`DELETE FROM processes WHERE id = ${processId}`).catch(onProblem);
    },
  };
}
