import type { RequestEvent } from "./request-event.ts";

/** Outcomes of requests in one span of time, counted beside the ledger. */
export interface TrafficCount {
  /** Start of the minute, Unix milliseconds. */
  at: number;
  /** Empty when there is none, as in the following fields. */
  organizationId: string;
  keyId: string;
  model: string;
  channel: string;
  /** Name of the endpoint, or `attempt` for calls to vendors. */
  route: string;
  /** First digit of the status, as text; `0` for an attempt without a status. */
  status: string;
  /** Error code of a failed request, or outcome of a failed attempt; else empty. */
  code: string;
  requests: number;
  /** Those that have a ledger entry although they failed, such as a stream that was cut. */
  charged: number;
  /** Number of requests by duration; see `durationBucket`. */
  durations: number[];
}

/** The route of calls to vendors. */
export const ATTEMPT_ROUTE = "attempt";

/** Number of buckets of durations: the first ends at 5 ms, each ends at twice the one before, the last has no end. */
export const DURATION_BUCKETS = 18;
const FIRST_BOUND_MS = 5;

/** Returns the bucket of a duration in milliseconds. */
export function durationBucket(milliseconds: number): number {
  if (!(milliseconds > FIRST_BOUND_MS)) return 0;
  return Math.min(Math.ceil(Math.log2(milliseconds / FIRST_BOUND_MS)), DURATION_BUCKETS - 1);
}

/**
 * Returns the duration in milliseconds that a share of all requests stayed below, evenly spread within its bucket;
 * null when there were none. Beyond the last bound it returns that bound.
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

/** Routes whose requests call a model. */
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

/** Codes of requests that the caller gave up. */
const GIVEN_UP: ReadonlySet<string> = new Set(["caller_gone", "cancelled"]);

/** True when a request called a model or was to call one. A job counts when it has run or was refused. */
export function isModelCall({ route, status }: Pick<RequestEvent, "route" | "status">): boolean {
  return MODEL_ROUTES.has(route) || (route === "jobs.submit" && status >= 400);
}

/** True when a request failed or was refused, but not when the caller gave it up. */
export function isFailed({ status, code }: Pick<RequestEvent, "status" | "code">): boolean {
  return (status >= 400 || code !== null) && !(code !== null && GIVEN_UP.has(code));
}
