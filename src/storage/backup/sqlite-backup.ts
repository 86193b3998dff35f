import { Database as Connection } from "bun:sqlite";
import { existsSync, renameSync } from "node:fs";
import { migrate } from "../database/migrate.ts";
import { openDatabase } from "../database/open.ts";
import { replacedName, SQLITE_SUFFIXES } from "../database/opened-files.ts";
import { isLocked } from "../database/unavailable.ts";
import { createPrivateFile } from "../private-files.ts";
import { verifyLedger } from "../tables/verification.ts";
import { requireCurrent, type DatabaseFacts } from "./database-facts.ts";

/** Copies one consistent state of a database that may be in use. Does not block writers. */
export function copySqlite(location: string, target: string): void {
  if (!existsSync(location)) throw new Error(`there is no database ${location}`);
  createPrivateFile(target);
  using database = new Connection(location, { readwrite: true });
  database.run("PRAGMA busy_timeout = 5000");
  database.run("VACUUM INTO ?", [target]);
}

/** Applies the missing migrations to a copy that an earlier version of the program made. */
export async function migrateSqlite(path: string): Promise<void> {
  const database = await openDatabase(path);
  try {
    await migrate(database);
  } finally {
    await database.close();
  }
}

/**
 * Reads a whole copy. Throws an `Error` when it is damaged or lacks migrations. `journals`: the folder of the journals
 * of the backup.
 */
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
    // In the locking mode EXCLUSIVE, the first read takes an exclusive lock, and fails if another connection is open.
    for (const statement of ["busy_timeout = 0", "locking_mode = EXCLUSIVE", "schema_version"])
      database.run(`PRAGMA ${statement}`);
    return false;
  } catch (error) {
    // A damaged database counts as unused, because its operator may want to restore a backup.
    return isLocked(error);
  }
}

/**
 * Moves a verified copy to the path of a database. Moves an existing database to another path, and returns that path;
 * null when there was no database.
 */
export function replaceSqlite(copy: string, location: string, at: Date): string | null {
  const kept = replacedName(location, at);
  const existing = SQLITE_SUFFIXES.filter((suffix) => existsSync(location + suffix));
  for (const suffix of existing) renameSync(location + suffix, kept + suffix);
  renameSync(copy, location);
  return existing.length > 0 ? kept : null;
}
