import type { JobError } from "../domain/job.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import { asGatewayError } from "../gateway/failure.ts";

export const INTERRUPTED: JobError = {
  type: "interrupted",
  message: "The gateway was interrupted while the model worked. Nothing is billed. Submit the job again.",
};

export const TIMED_OUT: JobError = {
  type: "timeout",
  message: "The job did not end before its deadline. Nothing is billed. Submit it again.",
};

/** Returns the error shown to the caller: the code and message that a synchronous request would have received. */
export function executionError(thrown: unknown): JobError {
  const { code, message } = asGatewayError(thrown);
  return { type: code, message };
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
