import type { z } from "zod";
import type { channelUsesSchema } from "./schema.ts";
import type { ConfiguredValues } from "../configuration/configured.ts";
import type { OperationContext } from "../context.ts";

/** Routes, models and organizations that the removal of a channel affects. */
export type ChannelUses = z.output<typeof channelUsesSchema>;

/**
 * Returns the default routes, own routes and fallbacks that contain a channel, and the models that only this channel
 * serves.
 */
export async function channelUses(
  { store, configuration }: OperationContext,
  { stored, state }: ConfiguredValues,
  id: string,
): Promise<ChannelUses> {
  const without = await configuration.read(
    stored.filter((entry) => entry.kind !== "channel" || entry.id !== id),
  );
  const models = [...state.catalogue.routes.declared]
    .filter(([, { targets }]) => targets.some(({ channel }) => channel.id === id))
    .map(([model]) => model);
  const organizations = await store.organizations.list();
  return {
    models,
    unroutable: [...state.catalogue.routes.declared.keys()].filter(
      (model) => !without.catalogue.routes.has(model),
    ),
    fallbackOf: organizations
      .filter(({ settings }) => settings.fallbackChannel === id)
      .map((each) => each.id),
    organizationRoutes: organizations.flatMap(({ id: organizationId, routes }) =>
      Object.entries(routes)
        .filter(([, { targets }]) => targets.some(({ channel }) => channel === id))
        .map(([model]) => ({ organizationId, model })),
    ),
  };
}

/** Returns the uses in a sentence; null when there are none. */
export function describeUses({
  models,
  unroutable,
  organizationRoutes,
  fallbackOf,
}: ChannelUses): string | null {
  const routes = organizationRoutes.map(({ organizationId, model }) => `${model} of ${organizationId}`);
  const parts = [
    ...(models.length > 0 ? [`the default ${routesOf(models)} name it`] : []),
    ...(unroutable.length > 0 ? [`nothing else serves ${listed(unroutable)}`] : []),
    ...(routes.length > 0 ? [`organizations' own ${routesOf(routes)} name it and would no longer hold`] : []),
  ];
  if (fallbackOf.length > 0) parts.push(`it is the fallback of ${listed(fallbackOf)}`);
  return parts.length === 0 ? null : parts.join("; ");
}

function routesOf(names: readonly string[]): string {
  return `routes of ${listed(names)}`;
}

const MAX_LISTED = 5;

function listed(names: readonly string[]): string {
  const rest = names.length - MAX_LISTED;
  return names.slice(0, MAX_LISTED).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}
