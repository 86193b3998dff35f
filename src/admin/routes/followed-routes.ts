import type { Route } from "../../domain/channel.ts";
import type { AdminContext } from "../context.ts";
import { mayCallModel } from "../organizations/enabled-models.ts";
import type { OrganizationRecord } from "../organizations/schema.ts";
import { resolveRoute } from "./routes.ts";

type Catalogue = AdminContext["catalogue"];

/**
 * Returns the routes that an organization's requests follow, by model: its own route, or the configured route. Leaves
 * out models that the organization may not call.
 */
export function followedRoutes(
  organization: OrganizationRecord,
  catalogue: Pick<Catalogue, "routes" | "channels">,
): Map<string, Route> {
  const routes = new Map([...catalogue.routes.declared, ...ownRoutes(organization, catalogue)]);
  for (const model of routes.keys()) if (!mayCallModel(organization, model)) routes.delete(model);
  return routes;
}

/** Returns the ids of the channels that requests of some organizations can be sent to, fallbacks included. */
export function callableChannels(
  organizations: readonly OrganizationRecord[],
  catalogue: Pick<Catalogue, "routes" | "channels">,
): Set<string> {
  const channelsOf = (routes: Iterable<Route>) =>
    [...routes].flatMap(({ targets }) => targets.map(({ channel }) => channel.id));
  return new Set(
    organizations.flatMap((organization) => {
      const followed = followedRoutes(organization, catalogue);
      const { fallbackAfterMs, fallbackChannel } = organization.settings;
      // The fallback may be a target that is only in the configured route, not in the organization's own route.
      const configured =
        fallbackAfterMs === null
          ? []
          : [...followed.keys()].flatMap((model) => catalogue.routes.get(model) ?? []);
      return [
        ...channelsOf(followed.values()),
        ...channelsOf(configured).filter((id) => id === fallbackChannel),
      ];
    }),
  );
}

/** Returns an organization's own routes that are in force, by model. */
export function ownRoutes(
  { routes }: OrganizationRecord,
  { channels }: Pick<Catalogue, "channels">,
): Map<string, Route> {
  return new Map(
    Object.entries(routes).flatMap(([model, record]) => {
      const route = resolveRoute(record, channels);
      return typeof route === "string" ? [] : [[model, route] as const];
    }),
  );
}
