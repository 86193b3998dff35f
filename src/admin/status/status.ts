import type { z } from "zod";
import type { AlertEvent } from "../../domain/alert.ts";
import { operatorMessage } from "../../domain/operator-message.ts";
import type { StatusCause } from "../../domain/status.ts";
import { DependencyError } from "../../gateway/dependency-error.ts";
import type { Undelivered } from "../alerts/store-port.ts";
import { withDeadline } from "../../lib/waiting.ts";
import { AdminError } from "../admin-error.ts";
import type { AdminContext, Degradation } from "../context.ts";
import { callableChannels } from "../routes/followed-routes.ts";
import { accessOf } from "../sign-in/signed-in.ts";
import { budgetCauses } from "./budget-causes.ts";
import { type ChannelHealth, channelHealths } from "./channel-health.ts";
import { ejectionCauses, readEjections } from "./ejected-targets.ts";
import { readRecentTraffic } from "./recent-traffic.ts";
import type { statusSchema } from "./schema.ts";
import { priceCauses, requestCauses, slowCauses, vendorCauses } from "./traffic-causes.ts";

type Status = z.output<typeof statusSchema>;

/** Maximum number of reported causes. More causes would give no new information. */
const MAX_CAUSES = 100;
const MAX_ALERTS = 20;
/** Time after which a database that has not answered counts as unavailable. */
const READ_MS = 5_000;

/**
 * Returns the current state of the installation or of one organization. Overview, channels, alerts and
 * `/readyz?verbose` all use this state. A member of only some organizations gets only the causes that concern these
 * organizations. While the database is unavailable, only the facts of this process decide the state.
 */
export async function readStatus(
  context: AdminContext,
  organizationId?: string,
): Promise<Status & { channels: ReadonlyMap<string, ChannelHealth> }> {
  const checkedAt = context.clock.now();
  const scope = scopeOf(context, organizationId);
  const parts = (context.running?.degradations() ?? []).map(partCause);
  try {
    const late = () => new DependencyError("the database did not answer in time");
    const found = await withDeadline(READ_MS, readCauses(context, scope), late);
    const causes = [...parts, ...found.causes].toSorted(worstFirst).slice(0, MAX_CAUSES);
    return { state: stateOf(causes, found.hasCalls), checkedAt, causes, channels: found.channels };
  } catch (error) {
    if (!(error instanceof DependencyError)) throw error;
    const away = parts.some(({ subject }) => subject === "database")
      ? []
      : [partCause(databaseAway(checkedAt))];
    const causes = [...parts, ...away].toSorted(worstFirst);
    return { state: stateOf(causes, false), checkedAt, causes, channels: new Map() };
  }
}

interface Scope {
  /** Organizations whose state is decided; undefined for all. */
  organizations: readonly string[] | undefined;
  /** True when the state includes causes that concern no single organization, such as a channel that nobody calls. */
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
    ...(await budgetCauses(context, organizations, ids)),
    ...undelivered.map(noticeCause),
    ...open.map(alertCause),
    ...(leases.length > 0 ? [partCause(leasesInDoubt(leases))] : []),
  ];
  const targets = new Set(out.flatMap(({ kind, subject }) => (kind === "ejection" ? [subject] : [])));
  const held = ejections.filter(({ target }) => targets.has(target));
  const health = await channelHealths(context, { traffic, ejections: held, slow, organizations: ids });
  // A member of only some organizations must not see vendors that these organizations cannot call.
  const callable = isOfAll ? null : callableChannels(organizations, context.catalogue);
  const channels = new Map([...health].filter(([id]) => callable?.has(id) ?? true));
  return { causes, channels, hasCalls: traffic.calls.length > 0 || traffic.requests.length > 0 };
}

function stateOf(causes: readonly StatusCause[], hasCalls: boolean): Status["state"] {
  return causes[0]?.severity ?? (hasCalls ? "ok" : "idle");
}

function worstFirst(one: StatusCause, other: StatusCause): number {
  const rank = { critical: 0, warning: 1 };
  // Alerts come last among causes of equal severity, because an open alert only reports other causes.
  const isAlert = ({ kind }: StatusCause) => Number(kind === "alert");
  return rank[one.severity] - rank[other.severity] || isAlert(one) - isAlert(other);
}

function partCause({
  part,
  since,
  isCritical = false,
  path = "/settings/configuration",
  figures,
  ...message
}: Degradation): StatusCause {
  return {
    kind: "part",
    severity: isCritical ? "critical" : "warning",
    subject: part,
    organizationId: null,
    since,
    ...message,
    figures: { part, ...figures },
    path,
  };
}

function databaseAway(now: number): Degradation {
  return {
    part: "database",
    since: now,
    ...operatorMessage("part.database", {}),
    isCritical: true,
    path: "/",
  };
}

function leasesInDoubt(leases: readonly { since: number }[]): Degradation {
  const since = Math.min(...leases.map((lease) => lease.since));
  const message = operatorMessage("part.leases", { count: leases.length });
  return { part: "leases", since, ...message, path: "/money" };
}

function noticeCause({ way, count, since }: Undelivered): StatusCause {
  return {
    kind: "notices",
    severity: "warning",
    subject: way,
    organizationId: null,
    since,
    ...operatorMessage(`cause.notices.${way}`, { way, count }),
    path: "/settings/alerts",
  };
}

function alertCause({ alertName, organizationId, message, code, figures, firedAt }: AlertEvent): StatusCause {
  return {
    kind: "alert",
    severity: "warning",
    subject: alertName,
    organizationId,
    since: firedAt,
    message: `${alertName}: ${message}`,
    code,
    figures: { ...figures, name: alertName, message },
    path: "/settings/alerts",
  };
}

/** Returns an empty list for a 403: a member of only some organizations does not see the money of all organizations. */
function nothingWhereRefused(error: unknown): never[] {
  if (error instanceof AdminError && error.status === 403) return [];
  throw error;
}
