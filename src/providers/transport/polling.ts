import { UpstreamError, type UpstreamErrorKind } from "../../domain/upstream-error.ts";
import { brokenResponse } from "./http.ts";

/**
 * Carries a piece of work through at a vendor that answers later: hands it in, looks at the vendor's own pace until
 * it has ended, and cancels it when nobody waits any more. A look that fails is repeated with growing pauses. Throws
 * what the vendor says of the work, or the signal's reason, at once; an error after the work was handed in counts
 * as ambiguous, for the work may be done all the same.
 */
export async function runJob<JobId, Result>(
  job: VendorJob<JobId, Result>,
  intervalMs: number,
  signal: AbortSignal,
): Promise<Result> {
  const { jobId, jobStatus } = await submit(job, signal);
  const end = await pollUntilDone(job, jobId, jobStatus, intervalMs, signal);
  if (end.state === "failed") throw end.error;
  return end.result;
}

export interface VendorJob<JobId, Result> {
  /** Hands the work in; vendors that wait a little may already tell how it ended. */
  submit(signal: AbortSignal): Promise<{ jobId: JobId; jobStatus: JobStatus<Result> }>;
  poll(jobId: JobId, signal: AbortSignal): Promise<JobStatus<Result>>;
  /** Left out where the vendor has no such call. */
  cancel?(jobId: JobId, signal: AbortSignal): Promise<unknown>;
}

/** What a look at a job shows. */
export type JobStatus<Result> = Running | Ended<Result>;
export type Ended<Result> = { state: "done"; result: Result } | { state: "failed"; error: UpstreamError };
export interface Running {
  state: "running";
}

export const RUNNING: Running = { state: "running" };

/** The id of a job as a part of a path. Throws `broken` where the vendor gave none. */
export function readJobId(id: unknown): string {
  if (typeof id === "string" && /^[\w-]{1,100}$/.test(id)) return id;
  throw brokenResponse("named no job to look at");
}

/** Looks that may fail in a row. */
const MAX_FAILURES = 5;
const MAX_PAUSE_MS = 10_000;
/** A single look, and a cancel call. */
const MAX_POLL_MS = 20_000;
/** How long a call that was given up is still heard, so that its job can be cancelled. */
const GRACE_MS = 15_000;

/** Trouble with a look that says nothing about the job. */
const PASSING: ReadonlySet<UpstreamErrorKind> = new Set([
  "unreachable",
  "timeout",
  "overloaded",
  "limited",
  "broken",
]);

async function submit<JobId, Result>(
  job: VendorJob<JobId, Result>,
  signal: AbortSignal,
): Promise<{ jobId: JobId; jobStatus: JobStatus<Result> }> {
  signal.throwIfAborted();
  if (!job.cancel) return await job.submit(signal);
  // Without its answer nobody knows which job to cancel, so a call that was given up is still heard for a while.
  const patience = new AbortController();
  const submission = job.submit(patience.signal);
  const { promise: given, reject } = Promise.withResolvers<never>();
  const leave = () => {
    const timer = setTimeout(() => patience.abort(signal.reason), GRACE_MS);
    submission
      .then(async ({ jobId, jobStatus }) => {
        if (jobStatus.state === "running") await cancel(job, jobId);
      })
      .catch(() => {})
      .finally(() => clearTimeout(timer));
    reject(signal.reason);
  };
  signal.addEventListener("abort", leave, { once: true });
  try {
    return await Promise.race([submission, given]);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

/** Looks until the job has ended; a job that is lost sight of is cancelled. */
async function pollUntilDone<JobId, Result>(
  job: VendorJob<JobId, Result>,
  jobId: JobId,
  first: JobStatus<Result>,
  intervalMs: number,
  signal: AbortSignal,
): Promise<Ended<Result>> {
  let jobStatus = first;
  let failures = 0;
  let pauseMs = intervalMs;
  try {
    while (jobStatus.state === "running") {
      await pause(pauseMs, signal);
      const seen = await poll(job, jobId, signal);
      if (seen instanceof UpstreamError) {
        failures += 1;
        if (!PASSING.has(seen.kind) || failures > MAX_FAILURES) throw lost(seen);
        pauseMs = backOffMs(intervalMs, failures, seen);
      } else {
        failures = 0;
        pauseMs = intervalMs;
        jobStatus = seen;
      }
    }
    return jobStatus;
  } catch (error) {
    void cancel(job, jobId);
    throw error;
  }
}

async function poll<JobId, Result>(
  job: VendorJob<JobId, Result>,
  jobId: JobId,
  signal: AbortSignal,
): Promise<JobStatus<Result> | UpstreamError> {
  const late = AbortSignal.timeout(MAX_POLL_MS);
  try {
    return await job.poll(jobId, AbortSignal.any([signal, late]));
  } catch (error) {
    signal.throwIfAborted();
    if (late.aborted) return new UpstreamError("timeout", "a look at the vendor's job took too long");
    if (error instanceof UpstreamError) return error;
    throw error;
  }
}

/** Doubles from look to look, and waits as long as the vendor asks for, both within reason. */
function backOffMs(intervalMs: number, failures: number, { retryAfterSeconds = 0 }: UpstreamError): number {
  return Math.min(MAX_PAUSE_MS, Math.max(intervalMs * 2 ** failures, retryAfterSeconds * 1000));
}

function lost(error: UpstreamError): UpstreamError {
  const { kind, message, status, retryAfterSeconds } = error;
  return new UpstreamError(kind, `lost sight of the vendor's job: ${message}`, {
    status,
    retryAfterSeconds,
    isAmbiguous: true,
    cause: error,
  });
}

/** Nobody waits for the answer; a job that cannot be cancelled ends by itself. */
async function cancel<JobId>(job: VendorJob<JobId, unknown>, jobId: JobId): Promise<void> {
  await job.cancel?.(jobId, AbortSignal.timeout(MAX_POLL_MS)).catch(() => {});
}

async function pause(timeMs: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeMs);
  const leave = () => reject(signal.reason);
  signal.addEventListener("abort", leave, { once: true });
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", leave);
  }
}
