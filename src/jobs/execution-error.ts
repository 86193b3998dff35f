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

/** What the caller is told of a failure: the code and message that a synchronous request would have got. */
export function executionError(thrown: unknown): JobError {
  const { code, message } = asGatewayError(thrown);
  return { type: code, message };
}

/** Vendors that throttled or were overloaded are called again this often. */
const MAX_REFUSED_CALLS = 5;

/**
 * Whether the job only has to wait: no vendor was called because all are at their limits, or those that were called did
 * nothing and said that they are. Returns for how many milliseconds, null when waiting is useless.
 */
export function capacityWaitMs(error: unknown, calls: number, mayCallAgain: boolean): number | null {
  if (!(error instanceof UpstreamError) || error.isAmbiguous) return null;
  if (error.kind !== "overloaded" && error.kind !== "limited") return null;
  if (calls > (mayCallAgain ? MAX_REFUSED_CALLS : 0)) return null;
  return (error.retryAfterSeconds ?? 1) * 1000;
}
