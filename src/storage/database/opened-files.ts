import { renameSync, statSync } from "node:fs";
import { basename } from "node:path";
import { systemClock } from "../../lib/clock.ts";

/**
 * Remembers the files of an opened SQLite database. If a file is moved or removed, SQLite continues to write to that
 * file, and everything written is lost with the process.
 */
interface OpenedFiles {
  /** Returns a message with the name of the moved or replaced file; null while database and WAL are in place. */
  replaced(): string | null;
  /** Moves the WAL away if a new file has replaced the database, because SQLite would use the WAL for the new file. */
  separateWal(): void;
}

/** Call this function while a connection to the database is open: the connection keeps the WAL in place. */
export function openedFiles(location: string): OpenedFiles {
  const database = openedFile(location);
  const wal = openedFile(`${location}-wal`);
  return {
    replaced() {
      const lost = [database, wal].find((file) => !file.isInPlace());
      return lost ? `${basename(lost.path)} was removed or replaced` : null;
    },
    separateWal() {
      if (database.isInPlace() || inodeOf(location) === undefined || !wal.isInPlace()) return;
      const kept = replacedName(location, new Date(systemClock.now()));
      try {
        for (const suffix of ["-wal", "-shm"]) renameSync(location + suffix, kept + suffix);
      } catch {
        // The files are gone because another worker has just moved them.
      }
    },
  };
}

/**
 * Endings of the names of a database's files: no ending for the database itself, then the endings of the files that
 * SQLite may keep next to the database.
 */
export const SQLITE_SUFFIXES = ["", "-wal", "-shm"] as const;

/** Returns the new path of a database that another database replaces. */
export function replacedName(location: string, at: Date): string {
  return `${location}.replaced-${at.toISOString().replaceAll(/[-:]|\.\d+/g, "")}`;
}

function openedFile(path: string) {
  let opened = inodeOf(path);
  return {
    path,
    isInPlace() {
      const inode = inodeOf(path);
      // SQLite creates the WAL at the first access. A WAL that did not exist at opening is recorded here.
      opened ??= inode;
      return inode === opened;
    },
  };
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}
