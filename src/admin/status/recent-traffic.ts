import { nextSpan, startOfSpan } from "../../domain/calendar.ts";
import { ERROR_CODES } from "../../domain/error-codes.table.ts";
import { ATTEMPT_ROUTE, percentile } from "../../domain/traffic.ts";
import type { AdminContext } from "../context.ts";
import type { TrafficSum } from "../usage/store-port.ts";
import { isKeyOf } from "../../lib/json.ts";

/** Recent calls and requests by minute, and the usual duration of calls of each channel. */
export interface RecentTraffic {
  /** Calls to vendors in the last 15 minutes by minute, model, channel and outcome. */
  calls: readonly TrafficSum[];
  /** Requests of the last 5 minutes by minute, organization and error code. */
  requests: readonly TrafficSum[];
  /**
   * The median duration of the successful calls of about the last day, by channel, in milliseconds. Channels with few
   * calls are missing.
   */
  usualMs: ReadonlyMap<string, number>;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Time range of the calls that decide the state of a channel. */
export const RECENT_MS = 15 * MINUTE_MS;
/** Maximum age of a failed call that counts as a current failure. */
const WINDOW_MS = 5 * MINUTE_MS;
/** Minimum number of successful calls in a day from which a usual duration is computed. */
const MIN_USUAL = 20;

/** Reads the sums that decide the state: by minute for the last minutes, and for the last day as a whole. */
export async function readRecentTraffic(
  { store, running, clock }: AdminContext,
  organizations: readonly string[] | undefined,
): Promise<RecentTraffic> {
  await running?.writeCounts();
  const now = clock.now();
  const of = organizations && { organizations };
  const minutes = (ms: number) => ({ from: now - ms, to: now + MINUTE_MS, span: "minute" as const, ...of });
  const day = {
    from: startOfSpan("hour", now - DAY_MS),
    to: nextSpan("day", startOfSpan("day", now)),
    span: "day" as const,
    ...of,
  };
  const [calls, requests, usual] = await Promise.all([
    store.usage.traffic(minutes(RECENT_MS), ["at", "model", "channel", "route", "code"]),
    store.usage.traffic(minutes(WINDOW_MS), ["at", "organizationId", "route", "code"]),
    store.usage.traffic(day, ["channel", "route"]),
  ]);
  return {
    calls: calls.filter(isCall),
    requests: requests.filter((sum) => !isCall(sum)),
    usualMs: medians(usual),
  };
}

function isCall({ route }: TrafficSum): boolean {
  return route === ATTEMPT_ROUTE;
}

function medians(sums: readonly TrafficSum[]): Map<string, number> {
  const known = sums.filter((sum) => isCall(sum) && sum.requests - sum.errors >= MIN_USUAL);
  return new Map(known.map(({ channel, durations }) => [channel, percentile(durations, 0.5) ?? 0]));
}

/** Outcomes of calls that are not a failure of the vendor. */
const NOT_FAILED: ReadonlySet<string> = new Set(["", "rejected", "refused", "caller_gone", "stopped"]);

/**
 * True for a failed call to a vendor, and for a request that failed at the gateway or a vendor. A caller's mistake is
 * not a failure.
 */
function isFailure({ route, code }: Pick<TrafficSum, "route" | "code">): boolean {
  if (route === ATTEMPT_ROUTE) return !NOT_FAILED.has(code);
  return isKeyOf(ERROR_CODES, code) && ERROR_CODES[code].status >= 500;
}

/** Numbers about the failures in the newest sums. */
export interface Failures {
  failed: number;
  all: number;
  minutes: number;
  /** Start of the unbroken run of failing minutes; see `failingSince`. */
  since: number;
  /** The code or outcome that most failures have. */
  code: string;
}

const ENOUGH = 10;
/**
 * Failures are reported if at least 3 calls and half of all calls failed, or at least 5 calls and a tenth of all calls.
 */
const FEW = { failed: 3, share: 0.5 };
const MANY = { failed: 5, share: 0.1 };

/**
 * Returns the failures among the newest calls or requests; null when there are too few failures. Counts only as many
 * minutes as are needed to see ten calls or requests, and at most five minutes, so that past failures are soon ignored.
 */
export function recentFailures(sums: readonly TrafficSum[], now: number): Failures | null {
  const byMinute = Map.groupBy(sums, ({ at }) => at);
  const newest = [...byMinute.keys()].toSorted((one, other) => other - one);
  const counted: TrafficSum[] = [];
  let all = 0;
  let from = now;
  for (const at of newest) {
    if (at + MINUTE_MS < now - WINDOW_MS || all >= ENOUGH) break;
    const own = byMinute.get(at) ?? [];
    counted.push(...own);
    all += own.reduce((sum, { requests }) => sum + requests, 0);
    from = at;
  }
  const failures = counted.filter(isFailure);
  const failed = failures.reduce((sum, { requests }) => sum + requests, 0);
  const isFailing = [FEW, MANY].some((bound) => failed >= bound.failed && failed >= all * bound.share);
  if (!isFailing) return null;
  const minutes = Math.max(1, Math.ceil((now - from) / MINUTE_MS));
  return { failed, all, minutes, since: failingSince(byMinute, newest), code: mostOf(failures) };
}

/**
 * Returns the start of the newest unbroken run of bad minutes. In a bad minute, at least a tenth of the calls or
 * requests failed. Minutes without calls or requests do not end the run.
 */
function failingSince(
  byMinute: ReadonlyMap<number, readonly TrafficSum[]>,
  newest: readonly number[],
): number {
  let since = newest[0] ?? 0;
  for (const at of newest) {
    const own = byMinute.get(at) ?? [];
    const failed = own.filter(isFailure).reduce((sum, { requests }) => sum + requests, 0);
    const all = own.reduce((sum, { requests }) => sum + requests, 0);
    if (failed < all * MANY.share) break;
    since = at;
  }
  return since;
}

function mostOf(failures: readonly TrafficSum[]): string {
  const counts = new Map<string, number>();
  for (const { code, requests } of failures) counts.set(code, (counts.get(code) ?? 0) + requests);
  return [...counts].toSorted(([, one], [, other]) => other - one)[0]?.[0] ?? "";
}
