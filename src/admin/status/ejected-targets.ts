import { targetName, type Route } from "../../domain/channel.ts";
import { operatorMessage } from "../../domain/operator-message.ts";
import type { StatusCause } from "../../domain/status.ts";
import { isPattern } from "../../lib/pattern-map.ts";
import type { AdminContext } from "../context.ts";
import type { OrganizationRecord } from "../organizations/schema.ts";
import { mayCallModel } from "../organizations/enabled-models.ts";
import { followedRoutes, ownRoutes } from "../routes/followed-routes.ts";

/**
 * A target that a process has taken out of service. `organizationId` is null if it is out of service for all
 * organizations.
 */
export interface EjectedTarget {
  target: string;
  organizationId: string | null;
  reason: string;
  /** Start of the ejection. `until` is the time of the next probe, null if unknown. Both are Unix milliseconds. */
  since: number;
  until: number | null;
}

/** Joins this process's own ejections with the ejections that all processes have reported in the store. */
export async function readEjections({
  store,
  running,
  clock,
}: Pick<AdminContext, "store" | "running" | "clock">): Promise<EjectedTarget[]> {
  const now = clock.now();
  const own = (running?.ejections() ?? []).map(
    ({ target, organization, reason, durationMs, lastedMs = 0 }): EjectedTarget => ({
      target,
      organizationId: organization,
      reason,
      since: now - lastedMs,
      until: now + durationMs,
    }),
  );
  const noted = (await store.alerts.ejections()).map((each) => Object.assign({ until: null }, each));
  const all = Map.groupBy([...own, ...noted], ({ target, organizationId }) => `${organizationId} ${target}`);
  return [...all.values()].flatMap(([first, ...others]) =>
    first ? [{ ...first, since: Math.min(first.since, ...others.map(({ since }) => since)) }] : [],
  );
}

/**
 * Returns causes for targets out of service that some requests would call, and for models without a callable target.
 * With `isOfAll` every target counts, otherwise only the targets in the organizations' routes. `called` adds the models
 * of recent requests, because the models that a pattern covers cannot be listed.
 */
export function ejectionCauses(
  { catalogue }: Pick<AdminContext, "catalogue">,
  ejections: readonly EjectedTarget[],
  organizations: readonly OrganizationRecord[],
  { isOfAll, called }: { isOfAll: boolean; called: readonly string[] },
): StatusCause[] {
  if (ejections.length === 0) return [];
  const declared = catalogue.routes.declared;
  const models = new Set([...declared.keys(), ...called].filter((id) => !isPattern(id)));
  const defaults = new Map(
    [...models].flatMap((id) => {
      const route = catalogue.routes.get(id);
      return route ? [[id, route] as const] : [];
    }),
  );
  const everyone = ejections.filter(({ organizationId }) => organizationId === null);
  const own = new Map(organizations.map((each) => [each.id, ownRoutes(each, catalogue)]));
  const dead = deadModels(defaults, everyone);
  const found = dead
    .filter(
      ([id]) => isOfAll || organizations.some((each) => mayCallModel(each, id) && !own.get(each.id)?.has(id)),
    )
    .map(([id, route]) => modelCause(id, null, since(route, everyone)));
  for (const organization of organizations) {
    const { id } = organization;
    const routes = own.get(id) ?? new Map<string, Route>();
    const out = ejections.filter(({ organizationId }) => organizationId === null || organizationId === id);
    const isOut = out.length > everyone.length;
    if (!isOut && routes.size === 0) continue;
    const theirs = isOut ? new Map([...defaults, ...routes]) : routes;
    const known = new Set(dead.filter(([model]) => !routes.has(model)).map(([model]) => model));
    for (const [model, route] of deadModels(theirs, out))
      if (mayCallModel(organization, model) && !known.has(model))
        found.push(modelCause(model, id, since(route, out)));
  }
  const isUsed = ({ target, organizationId }: EjectedTarget): boolean =>
    isOfAll ||
    organizations.some(
      (each) =>
        (organizationId === null || organizationId === each.id) &&
        [...followedRoutes(each, catalogue).values()].some((route) => mayCall(route, target)),
    );
  return [...found, ...ejections.filter(isUsed).map(targetCause)];
}

function deadModels(routes: ReadonlyMap<string, Route>, out: readonly EjectedTarget[]): [string, Route][] {
  const names = new Set(out.map(({ target }) => target));
  return [...routes].filter(
    ([, { targets }]) => targets.length > 0 && targets.every((target) => names.has(targetName(target))),
  );
}

function mayCall({ targets }: Route, name: string): boolean {
  return targets
    .map(targetName)
    .some((own) => (isPattern(own) ? name.startsWith(own.slice(0, -1)) : name === own));
}

/** Returns the time since which a model is unavailable: the latest start among the ejections of its targets. */
function since({ targets }: Route, out: readonly EjectedTarget[]): number {
  const times = targets.map((target) =>
    Math.min(...out.filter((each) => each.target === targetName(target)).map((each) => each.since)),
  );
  return Math.max(...times);
}

function modelCause(model: string, organizationId: string | null, at: number): StatusCause {
  const organization = organizationId === null ? "" : `&organization=${encodeURIComponent(organizationId)}`;
  return {
    kind: "model",
    severity: "critical",
    subject: model,
    organizationId,
    since: at,
    ...operatorMessage("cause.model", { model }),
    path: `/models/detail?model=${encodeURIComponent(model)}${organization}`,
  };
}

function targetCause({ target, organizationId, reason, since: at }: EjectedTarget): StatusCause {
  const channel = target.slice(0, target.indexOf("/"));
  return {
    kind: "ejection",
    severity: "warning",
    subject: target,
    organizationId,
    since: at,
    ...operatorMessage("cause.ejection", { target, reason }),
    path: `/models/providers/${encodeURIComponent(channel)}`,
  };
}
