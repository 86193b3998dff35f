import { renameSync, statSync } from "node:fs";
import { basename } from "node:path";
import { systemClock } from "../../lib/clock.ts";

/**
 * Remembers which files a SQLite database was opened on. SQLite goes on with a file that was moved or removed, and
 * everything written to it is lost with the process.
 */
interface OpenedFiles {
  /** Returns the file that is no longer at its path; null while both are. */
  replaced(): string | null;
  /** Moves the WAL away from a file that has replaced the database: SQLite would read it as that file's own. */
  separateWal(): void;
}

/** Call it while a connection to the database is open, which keeps SQLite from removing the WAL. */
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
        // Another worker has just moved them.
      }
    },
  };
}

/** The name under which a database stays that another one replaces. */
export function replacedName(location: string, at: Date): string {
  return `${location}.replaced-${at.toISOString().replaceAll(/[-:]|\.\d+/g, "")}`;
}

function openedFile(path: string) {
  let opened = inodeOf(path);
  return {
    path,
    isInPlace() {
      const inode = inodeOf(path);
      // SQLite creates the WAL at the first access.
      opened ??= inode;
      return inode === opened;
    },
  };
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}
