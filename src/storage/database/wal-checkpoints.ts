import { fdatasync } from "node:fs";
import { open } from "node:fs/promises";
import { promisify } from "node:util";

const syncData = promisify(fdatasync);

/**
 * Carries SQLite's log into its file again and again, on a thread of its own: that waits for the disk, and SQLite
 * would have the thread wait that happens to commit. The answer ends it.
 */
export function startWalCheckpoints(location: string, onProblem: (cause: unknown) => void): () => void {
  const thread = new Worker(new URL("./wal-checkpoint-thread.ts", import.meta.url).href, {
    smol: true,
    argv: [location],
  });
  thread.addEventListener("error", ({ message }) => onProblem(message));
  thread.unref();
  return () => thread.terminate();
}

/** Returns once everything committed so far outlives a loss of power: it stands in the log, or in the file. */
export async function syncLog(location: string): Promise<void> {
  const log = await open(`${location}-wal`, "r+");
  try {
    await syncData(log.fd);
  } finally {
    await log.close();
  }
}
