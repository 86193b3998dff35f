import { DependencyError } from "../gateway/dependency-error.ts";
import { sleep } from "../lib/waiting.ts";

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
