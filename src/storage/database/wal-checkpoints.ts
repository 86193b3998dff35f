import type { BackgroundWork } from "../../lib/waiting.ts";

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
