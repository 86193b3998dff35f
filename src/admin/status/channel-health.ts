import type { z } from "zod";
import type { StatusCause } from "../../domain/status.ts";
import type { AdminContext } from "../context.ts";
import { isoTime } from "../output.ts";
import { trafficView } from "../usage/totals.ts";
import type { EjectedTarget } from "./ejected-targets.ts";
import { recentFailures, type RecentTraffic } from "./recent-traffic.ts";
import type { channelHealthSchema } from "./schema.ts";

export type ChannelHealth = z.output<typeof channelHealthSchema>;

/** Time for which sums by month are kept. A channel without any sums was never called within this time. */
const KEPT_MS = 430 * 24 * 60 * 60_000;

/** Returns the health of each configured channel, based on the same facts as the causes. */
export async function channelHealths(
  { store, clock, catalogue }: AdminContext,
  { traffic, ejections, slow, organizations }: ChannelFacts,
): Promise<Map<string, ChannelHealth>> {
  const now = clock.now();
  const calls = Map.groupBy(traffic.calls, ({ channel }) => channel);
  const quiet = [...catalogue.channels.keys()].filter((id) => !calls.has(id));
  const ever = { from: now - KEPT_MS, to: now, span: "month" as const, channels: quiet };
  const earlier =
    quiet.length === 0
      ? []
      : await store.usage.traffic({ ...ever, ...(organizations && { organizations }) }, ["channel", "route"]);
  const called = new Set(earlier.map(({ channel }) => channel));
  const healthOf = (id: string): ChannelHealth => {
    const own = calls.get(id) ?? [];
    const { requests, errors, p95Ms } = trafficView(own);
    const held = ejections.filter(({ target }) => target.startsWith(`${id}/`));
    const longest = held.toSorted((one, other) => one.since - other.since)[0];
    const failures = recentFailures(own, now);
    const delay = slow.find(({ subject }) => subject === id);
    const trouble = longest ?? failures ?? delay;
    const untroubled = requests > 0 ? "ok" : called.has(id) ? "idle" : "untried";
    const probes = held.flatMap(({ until }) => until ?? []);
    return {
      state: longest ? "ejected" : failures ? "failing" : delay ? "slow" : untroubled,
      since: trouble && trouble.since !== null ? isoTime(trouble.since) : null,
      reason: longest?.reason ?? failures?.code ?? null,
      targets: [...new Set(held.map(({ target }) => target.slice(id.length + 1)))],
      nextProbeAt: probes.length === 0 ? null : isoTime(Math.min(...probes)),
      requests,
      errorRate: requests === 0 ? null : errors / requests,
      p95Ms,
    };
  };
  return new Map([...catalogue.channels.keys()].map((id) => [id, healthOf(id)]));
}

interface ChannelFacts {
  traffic: RecentTraffic;
  ejections: readonly EjectedTarget[];
  slow: readonly StatusCause[];
  organizations: readonly string[] | undefined;
}
