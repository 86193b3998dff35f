import { doCalls } from "../thread/do-calls.ts";
import { copySqlite, migrateSqlite, verifySqlite } from "./sqlite-backup.ts";
import type { SqliteWork, SqliteWorkResult } from "./sqlite-work.ts";

/*
 * The thread that copies, migrates and verifies whole SQLite files, so that the command stays responsive and can be
 * interrupted.
 */
doCalls<SqliteWork>({
  async run(work): Promise<SqliteWorkResult> {
    try {
      return { facts: await doWork(work) };
    } catch (error) {
      return { problem: error instanceof Error ? error.message : String(error) };
    }
  },
  close: async () => {},
});

async function doWork({ kind, path, other }: SqliteWork) {
  if (kind === "copy") copySqlite(path, other);
  else if (kind === "migrate") await migrateSqlite(path);
  else return await verifySqlite(path, other);
  return null;
}
