import { UpstreamError, type UpstreamErrorKind } from "../domain/upstream-error.ts";
import { brokenAnswer } from "./http.ts";

/**
 * Carries a piece of work through at a vendor that answers later: hands it in, looks at the vendor's own pace until
 * it has ended, and cancels it when nobody waits any more. A look that fails is repeated with growing pauses. Throws
 * what the vendor says of the work, or the signal's reason, at once; an error after the work was handed in counts
 * as ambiguous, for the work may be done all the same.
 */
export async function runJob<Ticket, Result>(
  job: VendorJob<Ticket, Result>,
  intervalMs: number,
  signal: AbortSignal,
): Promise<Result> {
  const { ticket, sight } = await handIn(job, signal);
  const end = await follow(job, ticket, sight, intervalMs, signal);
  if (end.state === "failed") throw end.error;
  return end.result;
}

export interface VendorJob<Ticket, Result> {
  /** Hands the work in; vendors that wait a little may already tell how it ended. */
  submit(signal: AbortSignal): Promise<{ ticket: Ticket; sight: Sight<Result> }>;
  look(ticket: Ticket, signal: AbortSignal): Promise<Sight<Result>>;
  /** Left out where the vendor has no such call. */
  cancel?(ticket: Ticket, signal: AbortSignal): Promise<unknown>;
}

/** What a look at a job shows. */
export type Sight<Result> = Running | Ended<Result>;
export type Ended<Result> = { state: "done"; result: Result } | { state: "failed"; error: UpstreamError };
export interface Running {
  state: "running";
}

export const RUNNING: Running = { state: "running" };

/** The id of a job as a part of a path. Throws `broken` where the vendor gave none. */
export function readTicket(id: unknown): string {
  if (typeof id === "string" && /^[\w-]{1,100}$/.test(id)) return id;
  throw brokenAnswer("named no job to look at");
}

/** Looks that may fail in a row. */
const MOST_FAILURES = 5;
const LONGEST_PAUSE_MS = 10_000;
/** A single look, and a cancel call. */
const LONGEST_LOOK_MS = 20_000;
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

async function handIn<Ticket, Result>(
  job: VendorJob<Ticket, Result>,
  signal: AbortSignal,
): Promise<{ ticket: Ticket; sight: Sight<Result> }> {
  signal.throwIfAborted();
  if (!job.cancel) return await job.submit(signal);
  // Without its answer nobody knows which job to cancel, so a call that was given up is still heard for a while.
  const patience = new AbortController();
  const submission = job.submit(patience.signal);
  const { promise: given, reject } = Promise.withResolvers<never>();
  const leave = () => {
    const timer = setTimeout(() => patience.abort(signal.reason), GRACE_MS);
    submission
      .then(async ({ ticket, sight }) => {
        if (sight.state === "running") await cancel(job, ticket);
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
async function follow<Ticket, Result>(
  job: VendorJob<Ticket, Result>,
  ticket: Ticket,
  first: Sight<Result>,
  intervalMs: number,
  signal: AbortSignal,
): Promise<Ended<Result>> {
  let sight = first;
  let failures = 0;
  let pauseMs = intervalMs;
  try {
    while (sight.state === "running") {
      await pause(pauseMs, signal);
      const seen = await look(job, ticket, signal);
      if (seen instanceof UpstreamError) {
        failures += 1;
        if (!PASSING.has(seen.kind) || failures > MOST_FAILURES) throw lost(seen);
        pauseMs = backOffMs(intervalMs, failures, seen);
      } else {
        failures = 0;
        pauseMs = intervalMs;
        sight = seen;
      }
    }
    return sight;
  } catch (error) {
    void cancel(job, ticket);
    throw error;
  }
}

async function look<Ticket, Result>(
  job: VendorJob<Ticket, Result>,
  ticket: Ticket,
  signal: AbortSignal,
): Promise<Sight<Result> | UpstreamError> {
  const late = AbortSignal.timeout(LONGEST_LOOK_MS);
  try {
    return await job.look(ticket, AbortSignal.any([signal, late]));
  } catch (error) {
    signal.throwIfAborted();
    if (late.aborted) return new UpstreamError("timeout", "a look at the vendor's job took too long");
    if (error instanceof UpstreamError) return error;
    throw error;
  }
}

/** Doubles from look to look, and waits as long as the vendor asks for, both within reason. */
function backOffMs(intervalMs: number, failures: number, { retryAfterSeconds = 0 }: UpstreamError): number {
  return Math.min(LONGEST_PAUSE_MS, Math.max(intervalMs * 2 ** failures, retryAfterSeconds * 1000));
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
async function cancel<Ticket>(job: VendorJob<Ticket, unknown>, ticket: Ticket): Promise<void> {
  await job.cancel?.(ticket, AbortSignal.timeout(LONGEST_LOOK_MS)).catch(() => {});
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
