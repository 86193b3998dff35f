import type { z } from "zod";
import type { AlertEvent } from "../../domain/alert.ts";
import type { StatusCause } from "../../domain/status.ts";
import { DependencyError } from "../../gateway/dependency-error.ts";
import type { Undelivered } from "../alerts/store-port.ts";
import { withDeadline } from "../../lib/waiting.ts";
import { AdminError } from "../admin-error.ts";
import type { AdminContext, Degradation } from "../context.ts";
import { isoTime } from "../output.ts";
import { accessOf } from "../sign-in/signed-in.ts";
import { trafficView } from "../usage/totals.ts";
import { ejectionCauses, readEjections, type EjectedTarget } from "./ejected-targets.ts";
import { readRecentTraffic, recentFailures, type RecentTraffic } from "./recent-traffic.ts";
import { priceCauses, requestCauses, slowCauses, vendorCauses } from "./traffic-causes.ts";
import type { channelHealthSchema, statusSchema } from "./schema.ts";

type Status = z.output<typeof statusSchema>;
export type ChannelHealth = z.output<typeof channelHealthSchema>;

/** Most causes that are told of; further ones say nothing new. */
const MAX_CAUSES = 100;
const MAX_ALERTS = 20;
/** A database that takes longer than this is away. */
const READ_MS = 5_000;
/** Sums by month are kept for so long; a channel without any was never called. */
const KEPT_MS = 430 * 24 * 60 * 60_000;

/**
 * The one verdict on whether all is well now, for the installation or one organization: overview, channels, alerts and
 * `/readyz` read it. A member of some organizations is told what concerns those. While the database is away it is made of
 * what this process knows by itself.
 */
export async function readStatus(
  context: AdminContext,
  organizationId?: string,
): Promise<Status & { channels: ReadonlyMap<string, ChannelHealth> }> {
  const checkedAt = context.clock.now();
  const scope = scopeOf(context, organizationId);
  const parts = partCauses(context.running?.degradations() ?? []);
  try {
    const late = () => new DependencyError("the database did not answer in time");
    const found = await withDeadline(READ_MS, readCauses(context, scope), late);
    const causes = [...parts, ...found.causes].toSorted(worstFirst).slice(0, MAX_CAUSES);
    return { state: stateOf(causes, found.hasCalls), checkedAt, causes, channels: found.channels };
  } catch (error) {
    if (!(error instanceof DependencyError)) throw error;
    const away = parts.some(({ subject }) => subject === "database") ? [] : [databaseAway(checkedAt)];
    const causes = [...parts, ...away].toSorted(worstFirst);
    return { state: stateOf(causes, false), checkedAt, causes, channels: new Map() };
  }
}

interface Scope {
  /** Organizations whose state it is; undefined for all. */
  organizations: readonly string[] | undefined;
  /** True for what concerns all, such as a channel that nobody calls. */
  isOfAll: boolean;
}

function scopeOf(context: AdminContext, organizationId: string | undefined): Scope {
  if (organizationId !== undefined) return { organizations: [organizationId], isOfAll: false };
  const { organizations } = accessOf(context);
  return organizations === "*"
    ? { organizations: undefined, isOfAll: true }
    : { organizations, isOfAll: false };
}

async function readCauses(context: AdminContext, { organizations: ids, isOfAll }: Scope) {
  const { store, running, clock } = context;
  const now = clock.now();
  const [traffic, ejections, all, open, undelivered, leases] = await Promise.all([
    readRecentTraffic(context, ids),
    readEjections(context),
    store.organizations.list(),
    store.alerts.events({ isOpen: true, limit: MAX_ALERTS, ...(ids && { organizationIds: ids }) }),
    store.alerts.undelivered(ids),
    store.budgets.leasesInDoubt().catch(nothingWhereRefused),
  ]);
  const organizations = all.filter(({ id, isDisabled }) => !isDisabled && (ids?.includes(id) ?? true));
  const called = new Set(traffic.calls.map(({ model }) => model));
  const waiting = (running?.waitingCalls() ?? []).filter(
    ({ organization }) => isOfAll || (ids?.includes(organization) ?? true),
  );
  const slow = slowCauses(traffic, waiting, now);
  const out = ejectionCauses(context, ejections, organizations, { isOfAll, called: [...called] });
  const causes = [
    ...out,
    ...vendorCauses(traffic, now),
    ...slow,
    ...requestCauses(traffic, now),
    ...(await priceCauses(context, traffic, organizations)),
    ...undelivered.map(noticeCause),
    ...open.map(alertCause),
    ...(leases.length > 0 ? [leaseCause(leases)] : []),
  ];
  const targets = new Set(out.flatMap(({ kind, subject }) => (kind === "ejection" ? [subject] : [])));
  const held = ejections.filter(({ target }) => targets.has(target));
  const channels = await channelHealths(context, { traffic, ejections: held, slow, organizations: ids });
  return { causes, channels, hasCalls: traffic.calls.length > 0 || traffic.requests.length > 0 };
}

function stateOf(causes: readonly StatusCause[], hasCalls: boolean): Status["state"] {
  return causes[0]?.severity ?? (hasCalls ? "ok" : "idle");
}

function worstFirst(one: StatusCause, other: StatusCause): number {
  const rank = { critical: 0, warning: 1 };
  // What an alert has found stands beside it as a cause of its own.
  const isAlert = ({ kind }: StatusCause) => Number(kind === "alert");
  return rank[one.severity] - rank[other.severity] || isAlert(one) - isAlert(other);
}

interface ChannelFacts {
  traffic: RecentTraffic;
  ejections: readonly EjectedTarget[];
  slow: readonly StatusCause[];
  organizations: readonly string[] | undefined;
}

/** The health of each configured channel, by the same facts as the causes. */
async function channelHealths(
  { store, clock, catalogue }: AdminContext,
  { traffic, ejections, slow, organizations }: ChannelFacts,
): Promise<Map<string, ChannelHealth>> {
  const now = clock.now();
  const calls = Map.groupBy(traffic.calls, ({ channel }) => channel);
  const quiet = [...catalogue.channels.keys()].filter((id) => !calls.has(id));
  const ever = { from: now - KEPT_MS, to: now, span: "month" as const, channels: quiet };
  const called =
    quiet.length === 0
      ? []
      : await store.usage.traffic({ ...ever, ...(organizations && { organizations }) }, ["channel", "route"]);
  const known = new Set([...calls.keys(), ...called.map(({ channel }) => channel)]);
  const healthOf = (id: string): ChannelHealth => {
    const own = calls.get(id) ?? [];
    const { requests, errors, p95Ms } = trafficView(own);
    const held = ejections.filter(({ target }) => target.startsWith(`${id}/`));
    const longest = held.toSorted((one, other) => one.since - other.since)[0];
    const failures = recentFailures(own, now);
    const delay = slow.find(({ subject }) => subject === id);
    const trouble = longest ?? failures ?? delay;
    const probes = held.flatMap(({ until }) => until ?? []);
    return {
      state: longest
        ? "ejected"
        : failures
          ? "failing"
          : delay
            ? "slow"
            : requests > 0
              ? "ok"
              : known.has(id)
                ? "idle"
                : "untried",
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

function partCauses(parts: readonly Degradation[]): StatusCause[] {
  return parts.map(({ part, since, message, isCritical = false, path = "/settings/configuration" }) => ({
    kind: "part",
    severity: isCritical ? "critical" : "warning",
    subject: part,
    organizationId: null,
    since,
    message,
    figures: { part },
    path,
  }));
}

function databaseAway(now: number): StatusCause {
  const message = "The database is unavailable: charges wait in the journal.";
  return {
    kind: "part",
    severity: "critical",
    subject: "database",
    organizationId: null,
    since: now,
    message,
    figures: { part: "database" },
    path: "/",
  };
}

function leaseCause(leases: readonly { since: number }[]): StatusCause {
  return {
    kind: "part",
    severity: "warning",
    subject: "leases",
    organizationId: null,
    since: Math.min(...leases.map(({ since }) => since)),
    message: `${leases.length} leases are in doubt: their processes are gone without their journals posted.`,
    figures: { part: "leases" },
    path: "/money",
  };
}

function noticeCause({ way, count, since, result }: Undelivered): StatusCause {
  const why = result === null ? "they wait to be sent" : result;
  return {
    kind: "notices",
    severity: "warning",
    subject: way,
    organizationId: null,
    since,
    message: `Messages of alerts that were not delivered by ${way}: ${count}. ${why}`,
    figures: { way, count, result: result ?? "" },
    path: "/settings/alerts",
  };
}

function alertCause({ alertName, organizationId, message, firedAt }: AlertEvent): StatusCause {
  return {
    kind: "alert",
    severity: "warning",
    subject: alertName,
    organizationId,
    since: firedAt,
    message: `${alertName}: ${message}`,
    figures: { name: alertName, message },
    path: "/settings/alerts",
  };
}

/** A member of some organizations does not see the money of all. */
function nothingWhereRefused(error: unknown): never[] {
  if (error instanceof AdminError && error.status === 403) return [];
  throw error;
}
