import { sleep } from "../lib/waiting.ts";
import { random } from "../lib/random.ts";

const MAX_WAIT_MS = 30_000;

/**
 * Repeats `work` while it fails for lack of capacity. `waitOf` returns the milliseconds to wait after such a failure,
 * and null for any other failure, which is thrown. Waits grow, with jitter, up to half a minute.
 */
export async function waitForCapacity<Result>(
  work: () => Promise<Result>,
  waitOf: (error: unknown) => number | null,
  signal: AbortSignal,
): Promise<Result> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      const waitMs = signal.aborted ? null : waitOf(error);
      if (waitMs === null) throw error;
      const grown = Math.min(MAX_WAIT_MS, waitMs * 2 ** Math.min(attempt, 5));
      await sleep(grown * (0.5 + random() / 2), signal);
    }
  }
}
