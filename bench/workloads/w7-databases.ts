import { Database } from "bun:sqlite";
import { SQL } from "bun";
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findPostgres, type PrivatePostgres, startPostgres } from "../../test/support/postgres.ts";

/** A kind of database. A commit waits until its data is on disk. */
export interface DatabaseKind {
  name: "SQLite" | "PostgreSQL";
  /** Address of a new, empty database. Undefined for the SQLite file in the gateway's data folder. */
  create(): Promise<string | undefined>;
  /** Returns the rows per second that one writer commits. Each row is on disk before the next is written. */
  commitsPerSecond(durationMs: number): Promise<number>;
  stop(): Promise<void>;
}

/** The row of a raw commit, as large as a job's row with its request. */
const ROW = "x".repeat(1_200);

/** Returns SQLite and, if its programs are installed, PostgreSQL. */
export function databaseKinds(): DatabaseKind[] {
  const kinds: DatabaseKind[] = [
    {
      name: "SQLite",
      create: async () => undefined,
      commitsPerSecond: async (durationMs) => sqliteCommits(durationMs),
      stop: async () => {},
    },
  ];
  const found = findPostgres();
  if ("missing" in found) {
    console.log(`without PostgreSQL: ${found.missing}`);
    return kinds;
  }
  let server: PrivatePostgres | undefined;
  const create = async (): Promise<string> => {
    // PostgreSQL starts only for its own measurement, so that it uses no processor time during the others.
    server ??= await startPostgres(found.folder, { isDurable: true });
    return server.createDatabase();
  };
  kinds.push({
    name: "PostgreSQL",
    create,
    commitsPerSecond: async (durationMs) => postgresCommits(await create(), durationMs),
    stop: async () => server?.stop(),
  });
  return kinds;
}

function sqliteCommits(durationMs: number): number {
  const folder = mkdtempSync(join(tmpdir(), "bench-commits-"));
  const path = join(folder, "raw.sqlite");
  try {
    using database = new Database(path);
    for (const text of [
      "PRAGMA journal_mode = WAL",
      "PRAGMA synchronous = NORMAL",
      "CREATE TABLE rows (text TEXT)",
    ])
      database.run(text);
    const insert = database.prepare("INSERT INTO rows (text) VALUES (?)");
    const log = openSync(`${path}-wal`, "r+");
    const startedAt = performance.now();
    let count = 0;
    for (; performance.now() - startedAt < durationMs; count += 1) {
      insert.run(ROW);
      fdatasyncSync(log);
    }
    closeSync(log);
    return (count * 1000) / durationMs;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function postgresCommits(address: string, durationMs: number): Promise<number> {
  const sql = new SQL(address, { max: 1 });
  await sql`CREATE TABLE rows (text TEXT)`;
  const startedAt = performance.now();
  let count = 0;
  for (; performance.now() - startedAt < durationMs; count += 1)
    await sql`INSERT INTO rows (text) VALUES (${ROW})`;
  await sql.close();
  return (count * 1000) / durationMs;
}
