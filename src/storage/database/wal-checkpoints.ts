import { fdatasync } from "node:fs";
import { open } from "node:fs/promises";
import { promisify } from "node:util";
import type { BackgroundWork } from "../../lib/waiting.ts";

const syncData = promisify(fdatasync);

/**
 * Makes SQLite's WAL checkpoints on a thread of its own: they wait for the disk, and SQLite would otherwise make
 * them on the thread that happens to commit.
 */
export function startWalCheckpoints(location: string, onProblem: (cause: unknown) => void): BackgroundWork {
  const thread = new Worker(new URL("./wal-checkpoint-thread.ts", import.meta.url).href, {
    smol: true,
    argv: [location],
  });
  thread.addEventListener("error", ({ message }) => onProblem(message));
  thread.unref();
  return {
    async stop() {
      thread.terminate();
    },
  };
}

/** Returns once everything committed so far survives a loss of power: it is in the WAL, or in the file. */
export async function syncLog(location: string): Promise<void> {
  const log = await open(`${location}-wal`, "r+");
  try {
    await syncData(log.fd);
  } finally {
    await log.close();
  }
}
