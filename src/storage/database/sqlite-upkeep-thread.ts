import { Database } from "bun:sqlite";
import { lowerThisThread } from "../../lib/thread-priority.ts";
import { openedFiles } from "./opened-files.ts";
import { damageOf } from "./unavailable.ts";

const EVERY_MS = 1000;

lowerThisThread();
const location = process.argv[2] ?? "";
const database = new Database(location, { readwrite: true });
const files = openedFiles(location);
setInterval(() => postMessage(check() ?? checkpoint()), EVERY_MS);

/**
 * Makes a checkpoint. Returns the reason of a failure that indicates damage, otherwise null. A failed checkpoint loses
 * nothing.
 */
function checkpoint(): string | null {
  try {
    database.run("PRAGMA wal_checkpoint(PASSIVE)");
    return null;
  } catch (error) {
    return damageOf(error);
  }
}

/** Returns why the database is damaged: a file was replaced, or cannot be read. Returns null when it is not damaged. */
function check(): string | null {
  const replaced = files.replaced();
  if (replaced !== null) {
    files.separateWal();
    return replaced;
  }
  try {
    // A new connection reads the file; an open connection would read the beginning of the file from memory.
    using fresh = new Database(location, { readwrite: true });
    fresh.query("SELECT version FROM schema_migrations LIMIT 1").get();
  } catch (error) {
    return damageOf(error);
  }
  return null;
}
