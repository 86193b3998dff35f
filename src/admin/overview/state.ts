import type { z } from "zod";
import { AdminError } from "../admin-error.ts";
import type { AdminContext } from "../context.ts";
import { isoTime } from "../output.ts";
import type { TrafficSum } from "../usage/store-port.ts";
import type { overviewSchema } from "../usage/schema.ts";
import { trafficView } from "../usage/totals.ts";

type Overview = z.input<typeof overviewSchema>;

/** The state of a channel is that of its calls in the last quarter of an hour. */
const RECENT_MS = 15 * 60_000;

/** Returns the present state of each configured channel, those in trouble first. */
export async function channelStates(
  { store, clock, catalogue, running }: AdminContext,
  organizations: readonly string[] | undefined,
): Promise<Overview["channels"]> {
  const now = clock.now();
  const range = { from: now - RECENT_MS, to: now + RECENT_MS, span: "minute" as const };
  const counts = await store.usage.traffic({ ...range, ...(organizations && { organizations }) }, [
    "channel",
    "route",
  ]);
  const calls = Map.groupBy(
    counts.filter(({ route }) => route === "attempt"),
    ({ channel }) => channel,
  );
  const ejections = running?.ejections();
  const states = [...catalogue.channels.keys()].map((id): Overview["channels"][number] => {
    const { requests, errors, p95Ms } = trafficView(calls.get(id) ?? NO_CALLS);
    const [ejected] = (ejections ?? [])
      .filter(({ target, organization }) => organization === null && target.startsWith(`${id}/`))
      .toSorted((one, other) => (other.lastedMs ?? 0) - (one.lastedMs ?? 0));
    return {
      id,
      state: ejected ? "ejected" : ejections && requests > 0 ? "ok" : "unknown",
      since: ejected ? isoTime(now - (ejected.lastedMs ?? 0)) : null,
      reason: ejected?.reason ?? null,
      requests,
      errorRate: requests === 0 ? null : errors / requests,
      p95Ms,
    };
  });
  const rank = { ejected: 0, ok: 1, unknown: 2 };
  return states.toSorted(
    (one, other) => rank[one.state] - rank[other.state] || other.requests - one.requests,
  );
}

const NO_CALLS: readonly TrafficSum[] = [];

/** Returns the parts that do not work as they should, with the time since when. */
export async function degradedParts({ store, running }: AdminContext): Promise<Overview["degraded"]> {
  const parts = (running?.degradations() ?? []).map(({ part, since, message }) => ({
    part,
    since: since === null ? null : isoTime(since),
    message,
  }));
  const leases = await store.budgets.leasesInDoubt().catch(nothingWhereRefused);
  const oldest = Math.min(...leases.map(({ since }) => since));
  if (leases.length > 0)
    parts.push({
      part: "leases",
      since: isoTime(oldest),
      message: `${leases.length} leases are in doubt: their processes are gone without their journals posted.`,
    });
  return parts;
}

/** A member of some organizations does not see the money of all. */
function nothingWhereRefused(error: unknown): never[] {
  if (error instanceof AdminError && error.status === 403) return [];
  throw error;
}

/** Returns which of the first steps were taken. A key counts from the second on: the first start makes one. */
export async function firstSteps({ store, catalogue }: AdminContext): Promise<Overview["checklist"]> {
  const [picture, keys, budgets] = await Promise.all([
    store.usage.hasPictures(),
    store.keys.page({ limit: 2 }),
    store.budgets.page({ limit: 1 }),
  ]);
  const vendors = [...catalogue.channels.values()].filter(({ provider }) => provider !== "sandbox");
  return { picture, key: keys.length > 1, vendor: vendors.length > 0, budget: budgets.length > 0 };
}
