import { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { basename } from "node:path";
import { lowerThisThread } from "../../lib/thread-priority.ts";
import { damageOf } from "./unavailable.ts";

const EVERY_MS = 1000;

lowerThisThread();
const location = process.argv[2] ?? "";
const database = new Database(location, { readwrite: true });
const opened = [location, `${location}-wal`].map((path) => ({ path, inode: inodeOf(path) }));
setInterval(() => postMessage(check() ?? checkpoint()), EVERY_MS);

/** Why a checkpoint failed, as far as that tells of damage. Nothing is lost by one that fails. */
function checkpoint(): string | null {
  try {
    database.run("PRAGMA wal_checkpoint(PASSIVE)");
    return null;
  } catch (error) {
    return damageOf(error);
  }
}

/** Why the database is damaged: a file is not the one that was opened, or cannot be read. Null when it is not. */
function check(): string | null {
  for (const { path, inode } of opened)
    if (inodeOf(path) !== inode) return `${basename(path)} was removed or replaced`;
  try {
    // An open connection would read the beginning of the file from memory.
    using fresh = new Database(location, { readwrite: true });
    fresh.query("SELECT version FROM schema_migrations LIMIT 1").get();
  } catch (error) {
    return damageOf(error);
  }
  return null;
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}
