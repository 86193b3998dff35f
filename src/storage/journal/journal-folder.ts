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
 * A folder under the journal's root that exactly one process owns. The lock is the kernel's own, held through an
 * open SQLite file: it ends with the process however that ends, and no process id has to be trusted.
 */
export interface JournalFolder {
  readonly path: string;
  /** Name of the folder, and of the process that holds budgets by it. */
  readonly processId: string;
  /** Moves one of its files to the quarantine, where nothing is read or removed. */
  quarantine(name: string): void;
  /** Gives the lock up and leaves the files. */
  release(): void;
  /** Removes the journal's files and the folder. Returns the names of other files, which go to the quarantine. */
  remove(): string[];
}

/** Below the journal's root: files that were not understood, for people to look at. */
export const QUARANTINE = "quarantine";

/** Makes a new folder, which appears under its name only once it is locked. */
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
 * Takes over every journal whose process has ended. One that cannot be locked for another reason than its owner goes
 * to `onUnreadable` and holds up no other. Folders that are no journals are left alone.
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
      // Its owner may just have removed it.
      if (existsSync(path)) onUnreadable(processId, error);
      return [];
    }
  });
}

/** True for the name of a process's journal folder. */
export function isJournal(name: string): boolean {
  return PROCESS_ID.test(name);
}

/** True when a running process owns one of the journals below a root. */
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

/** Name of a process's folder. A copy that somebody keeps beside it (`proc_….bak`) does not match. */
const PROCESS_ID = /^proc_[0-9a-z_]+$/;
const LOCK = "lock";
const LAST_BATCH = "last-batch";
/** The lock with the files that SQLite may have added to it, and the note of the last batch. */
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
      // The lock goes last: until then nobody else takes the folder over.
      for (const name of own.toSorted()) unlinkSync(join(path, name));
      removeEmpty(path);
      lock.close();
      return others;
    },
  };
}

/** Notes in a journal's folder the last batch that was posted, so that a start knows what a database has lost. */
export function notePosted(folder: string, batch: number): void {
  try {
    // Never truncated: the end of the process at any moment leaves a number.
    const file = openSync(join(folder, LAST_BATCH), constants.O_WRONLY | constants.O_CREAT, 0o600);
    try {
      writeSync(file, String(batch).padStart(16, "0"));
    } finally {
      closeSync(file);
    }
  } catch {
    // On a full disk an older number stays, by which fewer charges count as lost.
  }
}

/** Returns the last batch that was noted; 0 without one. */
export function lastPosted(folder: string): number {
  const path = join(folder, LAST_BATCH);
  return existsSync(path) ? Number(readFileSync(path, "latin1")) || 0 : 0;
}

/** Another process that just tries the lock may have made the file again; it removes the folder then. */
function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOTEMPTY")) throw error;
  }
}

/** Files in the quarantine: there should be none. */
export function countQuarantined(root: string): number {
  const folder = join(root, QUARANTINE);
  if (!existsSync(folder)) return 0;
  return readdirSync(folder).reduce((sum, processId) => sum + readdirSync(join(folder, processId)).length, 0);
}

/** Null when another process holds the lock. */
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
