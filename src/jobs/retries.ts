import { UpstreamError } from "../domain/upstream-error.ts";
import { DependencyError } from "../gateway/dependency-error.ts";
import { random } from "../lib/random.ts";
import { sleep } from "../lib/waiting.ts";

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

/** Maximum of calls to vendors that throttled or were overloaded. */
const MAX_REFUSED_CALLS = 5;

/**
 * Returns for how many milliseconds the job should wait: when no vendor was called because all are at their limits, or
 * the called ones did nothing and reported overload. Returns null when waiting is useless.
 */
export function capacityWaitMs(error: unknown, calls: number, mayCallAgain: boolean): number | null {
  if (!(error instanceof UpstreamError) || error.isAmbiguous) return null;
  if (error.kind !== "overloaded" && error.kind !== "limited") return null;
  if (calls > (mayCallAgain ? MAX_REFUSED_CALLS : 0)) return null;
  return (error.retryAfterSeconds ?? 1) * 1000;
}

const RETRY_MS = 250;

/** Repeats a write to the store while the store is unavailable, so that work already done or paid for is not lost. */
export async function retryWhileUnavailable<Result>(
  write: () => Promise<Result>,
  isOver: () => boolean,
): Promise<Result> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof DependencyError) || isOver()) throw error;
      await sleep(RETRY_MS);
    }
  }
}
