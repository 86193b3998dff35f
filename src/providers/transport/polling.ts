import { UpstreamError, type UpstreamErrorKind } from "../../domain/upstream-error.ts";
import type { VendorJobRecord } from "../../domain/image.ts";
import { after, sleep, untilAborted } from "../../lib/waiting.ts";
import { brokenResponse } from "./http.ts";

/**
 * Runs a job at an asynchronous vendor. Submits the job and polls it at the vendor's interval until it ends. Cancels
 * the job when `signal` aborts or polling fails, unless another worker takes the job over. Repeats failed polls at
 * growing intervals. Throws the job's own error, or the signal's reason, at once. A failure of polling is ambiguous,
 * because the job may still finish. With a `record`, the job is stored, and a job that was already submitted is only
 * polled.
 */
export async function runJob<Result>(
  job: VendorJob<Result>,
  { intervalMs, record }: JobPolling,
  signal: AbortSignal,
): Promise<Result> {
  const { jobId, jobStatus } = await submitOnce(job, record, signal);
  const ended = await pollUntilDone(job, { jobId, jobStatus, intervalMs, record }, signal);
  if (ended.state === "failed") throw ended.error;
  return ended.result;
}

interface JobPolling {
  intervalMs: number;
  record?: VendorJobRecord;
}

export interface VendorJob<Result> {
  /** Submits the job. A vendor that delays its response may already report the end of the job. */
  submit(signal: AbortSignal): Promise<SubmittedJob<Result>>;
  poll(jobId: string, signal: AbortSignal): Promise<VendorJobStatus<Result>>;
  /** Cancels the job; absent when the vendor cannot cancel jobs. */
  cancel?(jobId: string, signal: AbortSignal): Promise<unknown>;
}

interface SubmittedJob<Result> {
  jobId: string;
  jobStatus: VendorJobStatus<Result>;
}

export type VendorJobStatus<Result> = Running | Ended<Result>;
type Ended<Result> = { state: "done"; result: Result } | { state: "failed"; error: UpstreamError };
export interface Running {
  state: "running";
}

export const RUNNING: Running = { state: "running" };

/** Returns the id of a job after checking that it can be a part of a path. Throws `broken` otherwise. */
export function readJobId(id: unknown): string {
  if (typeof id === "string" && /^[\w-]{1,100}$/.test(id)) return id;
  throw brokenResponse("named no job id");
}

/** Maximum number of consecutive failed polls. The job is lost after one more. */
const MAX_FAILURES = 5;
const MAX_INTERVAL_MS = 10_000;
/** Maximum duration of a single poll or cancel call. */
const MAX_POLL_MS = 20_000;
/** Milliseconds to wait for the response to an aborted submission. Only this response has the job's id. */
const SUBMIT_GRACE_MS = 15_000;

/** Kinds of failed polls that say nothing about the state of the job. */
const TRANSIENT: ReadonlySet<UpstreamErrorKind> = new Set([
  "unreachable",
  "timeout",
  "overloaded",
  "limited",
  "broken",
]);

async function submitOnce<Result>(
  job: VendorJob<Result>,
  record: VendorJobRecord | undefined,
  signal: AbortSignal,
): Promise<SubmittedJob<Result>> {
  if (record?.isLost) {
    const message = "the vendor's job was submitted by a process that ended before it learned the id";
    throw new UpstreamError("broken", message, { isAmbiguous: true });
  }
  const known = record?.id;
  if (known) return { jobId: known, jobStatus: RUNNING };
  const submitted = await submit(job, signal);
  try {
    await record?.save(submitted.jobId);
  } catch (error) {
    // The job is cancelled, because without a stored id no other process could finish it.
    void cancel(job, submitted.jobId);
    throw error;
  }
  return submitted;
}

async function submit<Result>(job: VendorJob<Result>, signal: AbortSignal): Promise<SubmittedJob<Result>> {
  signal.throwIfAborted();
  if (!job.cancel) return await job.submit(signal);
  // An aborted submission is awaited a little longer, because only its response has the id of the job to cancel.
  const grace = new AbortController();
  const submission = job.submit(grace.signal);
  try {
    return await untilAborted(submission, signal);
  } catch (error) {
    if (signal.aborted) void cancelSubmission(job, submission, grace);
    throw error;
  }
}

async function cancelSubmission<Result>(
  job: VendorJob<Result>,
  submission: Promise<SubmittedJob<Result>>,
  grace: AbortController,
): Promise<void> {
  const endGrace = after(SUBMIT_GRACE_MS, () => grace.abort());
  try {
    const { jobId, jobStatus } = await submission;
    if (jobStatus.state === "running") await cancel(job, jobId);
  } catch {
    // Without a job id, nothing can be cancelled.
  } finally {
    endGrace();
  }
}

async function pollUntilDone<Result>(
  job: VendorJob<Result>,
  { jobId, intervalMs, record, ...first }: SubmittedJob<Result> & JobPolling,
  signal: AbortSignal,
): Promise<Ended<Result>> {
  let { jobStatus } = first;
  let failures = 0;
  let waitMs = intervalMs;
  try {
    while (jobStatus.state === "running") {
      await sleep(waitMs, signal);
      const polled = await poll(job, jobId, signal);
      if (polled instanceof UpstreamError) {
        failures += 1;
        if (!isTransient(polled) || failures > MAX_FAILURES) throw lost(polled);
        waitMs = backOffMs(intervalMs, failures, polled);
      } else {
        failures = 0;
        waitMs = intervalMs;
        jobStatus = polled;
      }
    }
    return jobStatus;
  } catch (error) {
    if (!record?.isHandedOver()) void cancel(job, jobId);
    throw error;
  }
}

async function poll<Result>(
  job: VendorJob<Result>,
  jobId: string,
  signal: AbortSignal,
): Promise<VendorJobStatus<Result> | UpstreamError> {
  const deadline = AbortSignal.timeout(MAX_POLL_MS);
  try {
    return await job.poll(jobId, AbortSignal.any([signal, deadline]));
  } catch (error) {
    signal.throwIfAborted();
    if (deadline.aborted) return new UpstreamError("timeout", "a poll of the vendor's job took too long");
    if (error instanceof UpstreamError) return error;
    throw error;
  }
}

/** True when a later poll may succeed. Later polls fail too when the job is not found or access is denied. */
function isTransient({ kind, status }: UpstreamError): boolean {
  return TRANSIENT.has(kind) && status !== 403 && status !== 404;
}

/** Returns the wait before the next poll: doubled with each failure, or a longer retry delay, up to a maximum. */
function backOffMs(intervalMs: number, failures: number, { retryAfterSeconds = 0 }: UpstreamError): number {
  return Math.min(MAX_INTERVAL_MS, Math.max(intervalMs * 2 ** failures, retryAfterSeconds * 1000));
}

/** Returns the error for a lost job. A rejected poll is not the caller's mistake: the vendor accepted the request. */
function lost(error: UpstreamError): UpstreamError {
  const { kind, message, status, retryAfterSeconds } = error;
  return new UpstreamError(kind === "rejected" ? "broken" : kind, `lost the vendor's job: ${message}`, {
    status,
    retryAfterSeconds,
    isAmbiguous: true,
    vendorMessage: error.vendorMessage,
    cause: error,
  });
}

/** Cancels a job and ignores the outcome. A job that cannot be cancelled runs to its own end. */
async function cancel(job: VendorJob<unknown>, jobId: string): Promise<void> {
  await job.cancel?.(jobId, AbortSignal.timeout(MAX_POLL_MS)).catch(() => {});
}
