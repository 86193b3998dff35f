import { operatorMessage } from "../../domain/operator-message.ts";
import type { StatusCause } from "../../domain/status.ts";
import { findPrice } from "../../gateway/metering/price.ts";
import type { AdminContext, WaitingCall } from "../context.ts";
import type { OrganizationRecord } from "../organizations/schema.ts";
import { priceIndex } from "../prices/price-index.ts";
import { trafficView } from "../usage/totals.ts";
import { recentFailures, RECENT_MS, type RecentTraffic } from "./recent-traffic.ts";

const MINUTE_MS = 60_000;
/** Minimum share of failed requests at which a cause about requests is critical. */
const MOST = 0.5;

/** Returns causes for the models of channels whose calls fail. */
export function vendorCauses({ calls }: RecentTraffic, now: number): StatusCause[] {
  const groups = Map.groupBy(calls, ({ channel, model }) => `${channel} ${model}`);
  return [...groups.values()].flatMap((sums): StatusCause[] => {
    const [{ channel, model } = { channel: "", model: "" }] = sums;
    const failures = recentFailures(sums, now);
    if (!failures) return [];
    const { failed, all, minutes, since, code } = failures;
    return [
      {
        kind: "calls",
        severity: "warning",
        subject: `${channel}/${model}`,
        organizationId: null,
        since,
        ...operatorMessage("cause.calls", { channel, model, failed, all, minutes, outcome: code }),
        path: `/models/providers/${encodeURIComponent(channel)}`,
      },
    ];
  });
}

/** Returns causes for the organizations whose requests fail at the gateway or its vendors. */
export function requestCauses({ requests }: RecentTraffic, now: number): StatusCause[] {
  const groups = Map.groupBy(requests, ({ organizationId }) => organizationId);
  return [...groups].flatMap(([organizationId, sums]): StatusCause[] => {
    const failures = recentFailures(sums, now);
    if (!failures) return [];
    const { failed, all, minutes, since, code } = failures;
    return [
      {
        kind: "requests",
        severity: failed >= all * MOST ? "critical" : "warning",
        subject: organizationId,
        organizationId: organizationId === "" ? null : organizationId,
        since,
        ...operatorMessage("cause.requests", { organization: organizationId, failed, all, minutes, code }),
        path: `/requests?status=5xx${organizationId === "" ? "" : `&organization=${encodeURIComponent(organizationId)}`}`,
      },
    ];
  });
}

/** Minimum number of calls that show that a vendor is slow. */
const FEW_SLOW = 3;
/** A call is slow when it takes longer than this and than `TIMES_USUAL` times the usual duration of its channel. */
const LONG_MS = 10_000;
const TIMES_USUAL = 8;
/** A call on a channel with an unknown usual duration is slow when it takes longer than this. */
const UNKNOWN_MS = MINUTE_MS;

/**
 * Returns causes for slow channels. A channel is slow when at least `FEW_SLOW` waiting calls are already slow, or when
 * the median duration of its last calls is at least half of the duration from which a call counts as slow.
 */
export function slowCauses(
  { calls, usualMs }: RecentTraffic,
  waiting: readonly WaitingCall[],
  now: number,
): StatusCause[] {
  const waits = Map.groupBy(waiting, ({ channel }) => channel);
  const answered = Map.groupBy(
    calls.filter(({ at }) => at > now - RECENT_MS / 3),
    ({ channel }) => channel,
  );
  const channels = new Set([...waits.keys(), ...answered.keys()]);
  return [...channels].flatMap((channel): StatusCause[] => {
    const usual = usualMs.get(channel);
    const bound = usual === undefined ? UNKNOWN_MS : Math.max(LONG_MS, usual * TIMES_USUAL);
    const long = (waits.get(channel) ?? []).filter(({ waitedMs }) => waitedMs >= bound);
    const longest = Math.max(0, ...long.map(({ waitedMs }) => waitedMs));
    const { requests, errors, p50Ms } = trafficView(answered.get(channel) ?? []);
    const median = p50Ms ?? 0;
    const isLate = usual !== undefined && requests - errors >= FEW_SLOW && median >= bound / 2;
    if (long.length < FEW_SLOW && !isLate) return [];
    const seconds = Math.round(Math.max(longest, isLate ? median : 0) / 1000);
    const usually = Math.round((usual ?? 0) / 100) / 10;
    return [
      {
        kind: "slow",
        severity: "warning",
        subject: channel,
        organizationId: null,
        since: longest > 0 ? now - longest : null,
        ...(usually > 0
          ? operatorMessage("cause.slow", { channel, seconds, usual: usually, calls: long.length })
          : operatorMessage("cause.slow.unknown", { channel, seconds, calls: long.length })),
        path: `/models/providers/${encodeURIComponent(channel)}`,
      },
    ];
  });
}

/** Returns causes for recently requested models that have no price in the organization's currency. */
export async function priceCauses(
  { store, catalogue, clock }: AdminContext,
  { requests }: RecentTraffic,
  organizations: readonly OrganizationRecord[],
): Promise<StatusCause[]> {
  const now = clock.now();
  const refused = new Set(
    requests.filter(({ code }) => code === NO_PRICE).map(({ organizationId }) => organizationId),
  );
  const concerned = organizations.filter(({ id }) => refused.has(id));
  if (concerned.length === 0) return [];
  const range = { from: now - RECENT_MS, to: now + MINUTE_MS, span: "minute" as const };
  const sums = await store.usage.traffic({ ...range, organizations: concerned.map(({ id }) => id) }, [
    "organizationId",
    "model",
    "code",
  ]);
  const price = priceIndex(await store.prices.list(), catalogue.prices);
  return sums.flatMap(({ organizationId, model: id, code, requests: count }): StatusCause[] => {
    const organization = concerned.find((each) => each.id === organizationId);
    const model = catalogue.models.get(id);
    if (code !== NO_PRICE || !organization || !model) return [];
    if (findPrice({ price }, organization, model, now)) return [];
    const { currency } = organization;
    return [
      {
        kind: "price",
        severity: "critical",
        subject: id,
        organizationId,
        since: null,
        ...operatorMessage("cause.price", { model: id, organization: organizationId, currency, count }),
        path: `/models/prices?model=${encodeURIComponent(id)}&organization=${encodeURIComponent(organizationId)}`,
      },
    ];
  });
}

const NO_PRICE = "MODEL_PRICE_NOT_CONFIGURED";
