import type { RequestEvent } from "./request-event.ts";

/**
 * Number of requests that ended in one minute and agree in all texts of this record. These counts are not part of the
 * ledger.
 */
export interface TrafficCount {
  /** Unix milliseconds at which the minute starts. */
  at: number;
  /**
   * Id of the organization. `organizationId`, `keyId`, `model` and `channel` are empty when unknown, and when there are
   * too many counts.
   */
  organizationId: string;
  keyId: string;
  model: string;
  channel: string;
  /** Name of the endpoint; `attempt` for calls to vendors. */
  route: string;
  /** First digit of the HTTP status as text; `0` for a call to a vendor without a status. */
  status: string;
  /** Error code of failed requests, or outcome of failed calls to vendors; otherwise empty. */
  code: string;
  requests: number;
  /** Number of failed requests that have a ledger entry, such as interrupted streams. */
  charged: number;
  /** Number of requests by duration; see `durationBucket`. */
  durations: number[];
}

/** Value of `route` for calls to vendors. */
export const ATTEMPT_ROUTE = "attempt";

/**
 * Number of buckets of durations. The first bucket ends at 5 ms. Each next bucket ends at twice the end of the previous
 * bucket. The last bucket has no end.
 */
export const DURATION_BUCKETS = 18;
const FIRST_BOUND_MS = 5;

/** Returns the bucket of a duration in milliseconds. */
export function durationBucket(milliseconds: number): number {
  if (!(milliseconds > FIRST_BOUND_MS)) return 0;
  return Math.min(Math.ceil(Math.log2(milliseconds / FIRST_BOUND_MS)), DURATION_BUCKETS - 1);
}

/**
 * Returns the duration in milliseconds that the fraction `share` of all requests did not exceed; null when there were
 * no requests. Assumes that the durations in a bucket are evenly spread. For the last bucket, returns its lower bound.
 */
export function percentile(buckets: readonly number[], share: number): number | null {
  const total = buckets.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const wanted = total * share;
  let below = 0;
  for (const [index, count] of buckets.entries()) {
    if (count > 0 && below + count >= wanted) {
      const [from, to] = boundsOf(index);
      return Math.round(from + (to - from) * ((wanted - below) / count));
    }
    below += count;
  }
  return boundsOf(buckets.length - 1)[1];
}

function boundsOf(index: number): [from: number, to: number] {
  const last = FIRST_BOUND_MS * 2 ** (DURATION_BUCKETS - 2);
  const end = FIRST_BOUND_MS * 2 ** index;
  if (index === 0) return [0, end];
  return index >= DURATION_BUCKETS - 1 ? [last, last] : [end / 2, end];
}

/** Names of the routes whose requests call a model. */
const MODEL_ROUTES: ReadonlySet<string> = new Set([
  "chat",
  "responses",
  "messages",
  "embeddings",
  "native",
  "native.text",
  "images.generations",
  "images.edits",
  "jobs.run",
]);

/** Error codes of requests that the caller cancelled or left. */
const GIVEN_UP: ReadonlySet<string> = new Set(["caller_gone", "cancelled"]);

/**
 * True when a request called a model, or failed before it would have called one. A job counts when it runs. Its
 * submission counts only when it fails.
 */
export function isModelCall({ route, status }: Pick<RequestEvent, "route" | "status">): boolean {
  return MODEL_ROUTES.has(route) || (route === "jobs.submit" && status >= 400);
}

/** True when a request failed or was refused. A request that the caller cancelled or left did not fail. */
export function isFailed({ status, code }: Pick<RequestEvent, "status" | "code">): boolean {
  return (status >= 400 || code !== null) && !(code !== null && GIVEN_UP.has(code));
}
