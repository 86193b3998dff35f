import type { Report } from "../report.ts";
import type { BackgroundWork } from "../../lib/waiting.ts";

/**
 * Makes SQLite's WAL checkpoints on a thread of its own: they wait for the disk, and SQLite would otherwise make them on
 * the thread that happens to commit. The same thread checks that the files are whole and still those that were opened:
 * `onCheck` is called every second with why the database is damaged, or with null when it is not.
 */
export function startSqliteUpkeep(
  location: string,
  onCheck: (damage: string | null) => void,
  onProblem: Report,
): BackgroundWork {
  const thread = new Worker(new URL("./sqlite-upkeep-thread.ts", import.meta.url).href, {
    smol: true,
    argv: [location],
  });
  thread.addEventListener("message", ({ data }: MessageEvent<string | null>) => onCheck(data));
  thread.addEventListener("error", ({ message }) =>
    onProblem("WAL checkpoints and checks of the database have ended", message),
  );
  thread.unref();
  return {
    async stop() {
      thread.terminate();
    },
  };
}
