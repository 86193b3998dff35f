import { Database as Connection } from "bun:sqlite";
import { existsSync, renameSync } from "node:fs";
import { migrate } from "../database/migrate.ts";
import { openDatabase } from "../database/open.ts";
import { replacedName } from "../database/opened-files.ts";
import { isLocked } from "../database/unavailable.ts";
import { createPrivateFile } from "../private-files.ts";
import { verifyLedger } from "../tables/verification.ts";
import { requireCurrent, type DatabaseFacts } from "./database-facts.ts";

/** Endings of the names of a database's files: its own, and those that SQLite may keep beside it. */
const SUFFIXES = ["", "-wal", "-shm"];

/** Copies one state of a database that may be in use. It blocks no writer. */
export function copySqlite(location: string, target: string): void {
  if (!existsSync(location)) throw new Error(`there is no database ${location}`);
  createPrivateFile(target);
  using database = new Connection(location, { readwrite: true });
  database.run("PRAGMA busy_timeout = 5000");
  database.run("VACUUM INTO ?", [target]);
}

/** Brings a copy that an earlier version has made to the newest form. */
export async function migrateSqlite(path: string): Promise<void> {
  const database = await openDatabase(path);
  try {
    await migrate(database);
  } finally {
    await database.close();
  }
}

/** Reads all of a copy. Throws an `Error` when it is damaged; `journals` are those that belong to it. */
export async function verifySqlite(path: string, journals: string): Promise<DatabaseFacts> {
  const database = await openDatabase(path);
  try {
    const rows = await database.read((sql) => sql<{ integrity_check: string }[]>`PRAGMA integrity_check(10)`);
    const problems = rows.map((row) => row.integrity_check).filter((row) => row !== "ok");
    if (problems.length > 0) throw new Error(`the copy of the database is damaged: ${problems.join("; ")}`);
    const migrations = await requireCurrent(database);
    const verification = await verifyLedger(database, journals);
    return { migrations, entries: verification.entries, verification };
  } finally {
    await database.close();
  }
}

/** Returns true when another connection to a database is open. */
export function isSqliteInUse(location: string): boolean {
  if (!existsSync(location)) return false;
  using database = new Connection(location, { readwrite: true });
  try {
    // In this mode the first read takes the lock that all other connections share.
    for (const statement of ["busy_timeout = 0", "locking_mode = EXCLUSIVE", "schema_version"])
      database.run(`PRAGMA ${statement}`);
    return false;
  } catch (error) {
    // A damaged database counts as unused, because its operator may want to restore a backup.
    return isLocked(error);
  }
}

/** Puts a verified copy in place of a database, which is kept under another name. Returns that, null without one. */
export function replaceSqlite(copy: string, location: string, at: Date): string | null {
  const kept = replacedName(location, at);
  const existing = SUFFIXES.filter((suffix) => existsSync(location + suffix));
  for (const suffix of existing) renameSync(location + suffix, kept + suffix);
  renameSync(copy, location);
  return existing.length > 0 ? kept : null;
}
