import { Database, SQLiteError } from "bun:sqlite";
import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { createPrivateFile, createPrivateFolder } from "../private-files.ts";
import { isSegmentName } from "./segments.ts";

/**
 * A folder below the journals' root that exactly one process owns. The lock of the folder is a kernel lock on an open
 * SQLite file. The lock ends together with the process, even after a crash, so no stored process id is needed.
 */
export interface JournalFolder {
  readonly path: string;
  /** Name of the folder, and of the process's budget leases. */
  readonly processId: string;
  /** Moves a file of the folder to the quarantine, where files are neither posted nor removed. */
  quarantine(name: string): void;
  /** Releases the lock and keeps the files. */
  release(): void;
  /** Removes the folder and the journal's files. Moves other files to the quarantine and returns their names. */
  remove(): string[];
}

/**
 * Name of the folder of unreadable and unknown files, below the journals' root. A person has to inspect these files.
 */
export const QUARANTINE = "quarantine";

/** Makes a new folder. The folder gets its final name only after it is locked. */
export function createFolder(root: string, processId: string): JournalFolder {
  const unlisted = join(root, `.${processId}`);
  createPrivateFolder(unlisted, { isOwn: true });
  const lock = tryLock(unlisted);
  if (!lock) throw new Error(`the journal folder ${processId} is in use`);
  const path = join(root, processId);
  renameSync(unlisted, path);
  return lockedFolder(path, processId, lock);
}

/**
 * Takes over every journal whose process has ended. Calls `onUnreadable` for a journal that cannot be locked for a
 * reason other than a running owner, and continues with the other journals. Ignores folders that are not journals.
 */
export function adoptFolders(
  root: string,
  own: string,
  onUnreadable: (processId: string, cause: unknown) => void,
): JournalFolder[] {
  const names = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && isJournal(entry.name) && entry.name !== own)
    .map((entry) => entry.name);
  return names.flatMap((processId) => {
    const path = join(root, processId);
    try {
      if (!readdirSync(path).some((name) => isSegmentName(name) || name === LOCK)) return [];
      const lock = tryLock(path);
      return lock ? [lockedFolder(path, processId, lock)] : [];
    } catch (error) {
      // The owner may just have removed the folder.
      if (existsSync(path)) onUnreadable(processId, error);
      return [];
    }
  });
}

/** True for the name of a process's journal folder. */
export function isJournal(name: string): boolean {
  return PROCESS_ID.test(name);
}

/** True when a running process owns a journal below this root. */
export function hasOwner(root: string): boolean {
  if (!existsSync(root)) return false;
  return readdirSync(root)
    .filter((name) => isJournal(name) && existsSync(join(root, name, LOCK)))
    .some((name) => {
      const lock = tryLock(join(root, name));
      lock?.close();
      return lock === null;
    });
}

/** Matches the name of a process's folder. A copy that a person has made next to it (`proc_….bak`) does not match. */
const PROCESS_ID = /^proc_[0-9a-z_]+$/;
const LOCK = "lock";
const LAST_BATCH = "last-batch";
/** Matches the lock file, the files that SQLite may add to it, and the file with the number of the last batch. */
const OWN_FILE = /^(?:lock(?:-journal|-wal|-shm)?|last-batch)$/;

function lockedFolder(path: string, processId: string, lock: Database): JournalFolder {
  const quarantine = (name: string) => {
    const folder = join(path, "..", QUARANTINE, processId);
    createPrivateFolder(folder, { isOwn: true });
    const target = join(folder, name);
    renameSync(join(path, name), existsSync(target) ? `${target}.${Bun.randomUUIDv7()}` : target);
  };
  return {
    path,
    processId,
    quarantine,
    release: () => lock.close(),
    remove() {
      const names = readdirSync(path);
      const others = names.filter((name) => !isSegmentName(name) && !OWN_FILE.test(name));
      for (const name of others) quarantine(name);
      const own = names.filter((name) => !others.includes(name));
      // The segments are removed before the lock file. Until then no other process can take the folder over.
      for (const name of own.toSorted()) unlinkSync(join(path, name));
      removeEmpty(path);
      lock.close();
      return others;
    },
  };
}

/**
 * Stores the number of the last posted batch in a journal's folder. With this number, the next start finds out which
 * batches a database has lost.
 */
export function notePosted(folder: string, batch: number): void {
  try {
    // The file is overwritten, not truncated, so it always contains a number, even after an interrupted write.
    const file = openSync(join(folder, LAST_BATCH), constants.O_WRONLY | constants.O_CREAT, 0o600);
    try {
      writeSync(file, String(batch).padStart(16, "0"));
    } finally {
      closeSync(file);
    }
  } catch {
    // On a full disk the file keeps an older number, so the next start may find fewer lost charges.
  }
}

/** Returns the stored number of the last posted batch; 0 when none is stored. */
export function lastPosted(folder: string): number {
  const path = join(folder, LAST_BATCH);
  return existsSync(path) ? Number(readFileSync(path, "latin1")) || 0 : 0;
}

/**
 * Removes a folder if it is empty. The folder may contain a new lock file of another process that tries to take the
 * lock. That process then removes the folder.
 */
function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOTEMPTY")) throw error;
  }
}

/** Returns the number of files in the quarantine, which should be zero. */
export function countQuarantined(root: string): number {
  const folder = join(root, QUARANTINE);
  if (!existsSync(folder)) return 0;
  return readdirSync(folder).reduce((sum, processId) => sum + readdirSync(join(folder, processId)).length, 0);
}

/** Tries to take the lock of a folder; returns null when another process has the lock. */
function tryLock(folder: string): Database | null {
  const path = join(folder, LOCK);
  let lock: Database | undefined;
  try {
    createPrivateFile(path);
    lock = new Database(path, { readwrite: true });
    lock.run("PRAGMA busy_timeout = 0");
    lock.run("BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    lock?.close();
    if (error instanceof SQLiteError && /^SQLITE_(BUSY|LOCKED)/.test(error.code ?? "")) return null;
    throw error;
  }
}
