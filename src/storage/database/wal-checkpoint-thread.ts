import { Database } from "bun:sqlite";
import { lowerThisThread } from "../../lib/thread-priority.ts";

const EVERY_MS = 1000;

lowerThisThread();
const database = new Database(process.argv[2], { readwrite: true });
setInterval(checkpoint, EVERY_MS);

function checkpoint(): void {
  try {
    database.run("PRAGMA wal_checkpoint(PASSIVE)");
  } catch {
    // Nothing is lost by a checkpoint that fails; a disk in trouble is reported by the next commit.
  }
}
