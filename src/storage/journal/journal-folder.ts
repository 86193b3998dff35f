import { Database, SQLiteError } from "bun:sqlite";
import { mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

/**
 * A folder under the journal's root that exactly one process owns. The lock is the kernel's own, held through an
 * open SQLite file: it ends with the process however that ends, and no process id has to be trusted.
 */
export interface JournalFolder {
  readonly path: string;
  /** Name of the folder and of the lease its process holds budgets by. */
  readonly processId: string;
  /** Gives the lock up and leaves the files. */
  release(): void;
  /** Removes the folder with all its files. */
  remove(): void;
}

/** Makes a new folder of one's own. It appears under its name only once it is locked. */
export function createFolder(root: string, processId: string): JournalFolder {
  const unlisted = join(root, `.${processId}`);
  mkdirSync(unlisted, { recursive: true, mode: 0o700 });
  const lock = tryLock(unlisted);
  if (!lock) throw new Error(`the journal folder ${processId} is in use`);
  const path = join(root, processId);
  renameSync(unlisted, path);
  return lockedFolder(path, processId, lock);
}

/** Takes over every folder whose process has ended. */
export function adoptFolders(root: string, own: string): JournalFolder[] {
  const leases = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith(".") && entry.name !== own)
    .map((entry) => entry.name);
  return leases.flatMap((processId) => {
    const path = join(root, processId);
    const lock = tryLock(path);
    return lock ? [lockedFolder(path, processId, lock)] : [];
  });
}

function lockedFolder(path: string, processId: string, lock: Database): JournalFolder {
  return {
    path,
    processId,
    release: () => lock.close(),
    remove() {
      rmSync(path, { recursive: true, force: true });
      lock.close();
    },
  };
}

/** Null when another process holds the lock, or the folder is just being removed. */
function tryLock(folder: string): Database | null {
  let lock: Database | undefined;
  try {
    lock = new Database(join(folder, "lock"), { create: true, readwrite: true });
    lock.run("PRAGMA busy_timeout = 0");
    lock.run("BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    lock?.close();
    if (error instanceof SQLiteError && /^SQLITE_(BUSY|LOCKED|CANTOPEN|IOERR)/.test(error.code ?? ""))
      return null;
    throw error;
  }
}
