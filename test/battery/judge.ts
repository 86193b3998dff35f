import { CUTS, callIdOf, type Outcome } from "./calls.ts";
import { LIMIT, type Setting, type Span } from "./setting.ts";

/*
 * Decides which requests may fail. All other requests must succeed, because at least one target is healthy at any time.
 */

/** Delay after which clients notice that a killed process's connections have ended. */
const KILL_GRACE_MS = 500;
/** Time after an outage of the database until amounts that were leased before are available again. */
const OUTAGE_GRACE_MS = 3_000;

/** Returns a sentence for each request that failed wrongly, and for each limit that admitted too much. */
export function judge(setting: Setting, outcomes: readonly Outcome[]): string[] {
  const faultsOf = vendorFaults(setting);
  const failed = outcomes.filter((outcome) => !mayEndSo(setting, outcome, faultsOf.get(outcome.call.id)));
  const causes = new Map(
    setting.fleet.gateways.flatMap((gateway) =>
      gateway.logs().map((line) => [line["request_id"], line["cause"]] as const),
    ),
  );
  return [
    ...failed.map(
      ({ call, end, detail, machine, startedAt, endedAt }) =>
        `${call.id} (${call.kind}, ${call.key}) at ${machine ?? "the balancer"} was ${end}: ${detail} ` +
        `[${new Date(startedAt).toISOString()} +${endedAt - startedAt} ms] ` +
        JSON.stringify(causes.get(call.id) ?? "no cause in the log"),
    ),
    ...overLimit(setting, outcomes),
  ];
}

/** Returns the faults of the first vendor, by call. */
function vendorFaults({ fleet }: Setting): Map<string, Set<string | undefined>> {
  const faults = new Map<string, Set<string | undefined>>();
  for (const hit of fleet.vendors[0]!.hits) {
    const id = callIdOf(hit);
    const known = faults.get(id) ?? new Set();
    faults.set(id, known.add(hit.behaviour.fault));
  }
  return faults;
}

function mayEndSo(setting: Setting, outcome: Outcome, faults: Set<string | undefined> = new Set()): boolean {
  const { call, end, detail } = outcome;
  switch (end) {
    case "whole":
    case "left":
      return true;
    case "silent":
      return false;
    case "cut":
      if (call.kind !== "stream" || outcome.tokens === 0) return false;
      if (CUTS.some((cut) => faults.has(cut))) return true;
      return overlaps(setting.history.vendorDeaths.map(instant), outcome, 0);
    case "lost":
      return isKilled(setting, outcome);
    case "refused":
      if (detail === "400 content_policy_violation") return faults.has("content-refused");
      if (detail === "429 BILLING_BLOCKED") return call.key === "narrow";
      if (detail === "429 rate_limit_exceeded") return call.key === "limited";
      if (detail === "503 dependency_unavailable")
        return call.key !== "ample" && overlaps(setting.history.databaseOutages, outcome, OUTAGE_GRACE_MS);
      return false;
  }
}

/** True when a process that may have served the request was killed during the request. */
export function isKilled({ history, balancer }: Setting, outcome: Outcome): boolean {
  const { machine } = outcome;
  const kills = history.kills.filter((kill) => balancer !== null || kill.machine === machine);
  return overlaps(
    kills.map(({ from }) => instant(from)),
    outcome,
    KILL_GRACE_MS,
  );
}

function instant(at: number): Span {
  return { from: at, to: at };
}

function overlaps(spans: readonly Span[], { startedAt, endedAt }: Outcome, graceMs: number): boolean {
  return spans.some(({ from, to }) => from <= endedAt && to + graceMs >= startedAt);
}

/** Compares the limited key's served requests with its limit per minute. Skipped when the test moves the clock. */
function overLimit(setting: Setting, outcomes: readonly Outcome[]): string[] {
  const { mix, history } = setting;
  if (mix.hasClock) return [];
  const served = outcomes
    .filter(({ call, end }) => call.key === "limited" && (end === "whole" || end === "cut"))
    .map(({ startedAt, endedAt }) => ({ startedAt, endedAt }))
    .sort((one, other) => one.endedAt - other.endedAt);
  const most = LIMIT * countersOf(setting);
  // Requests that begin and end within the same 60 seconds are certainly admitted in these 60 seconds.
  const counts = served.map(
    ({ startedAt }) =>
      served.filter((other) => other.startedAt >= startedAt && other.endedAt < startedAt + 60_000).length,
  );
  const worst = Math.max(0, ...counts);
  return worst > most ? [`${worst} requests of a key limited to ${most} a minute were served in one`] : [];
  function countersOf({ redis }: Setting): number {
    // Without Redis, each machine counts separately, and loses its counts when its process (the supervisor, if it has
    // one) ends. With Redis, all machines count together, until an outage.
    if (redis) return 1 + history.redisOutages.length;
    const ended = history.kills.filter(({ victim }) => victim === "machine").length;
    return mix.machines + ended + history.stops.length;
  }
}
