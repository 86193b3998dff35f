import { operatorMessage } from "../../domain/operator-message.ts";
import { z } from "zod";
import type { Channel, Route } from "../../domain/channel.ts";
import { meantBy } from "../../lib/suggest.ts";
import { AdminError } from "../admin-error.ts";
import { requireModel, type AdminContext, type Catalogue } from "../context.ts";
import { requireVersion, targetReasoningSchema, versionSchema } from "../input.ts";
import { mayCallModel } from "../organizations/enabled-models.ts";
import { changeOrganization, getOrganization } from "../organizations/organizations.ts";
import { decidesForAll } from "../sign-in/signed-in.ts";
import type { OrganizationRecord, RouteRecord } from "../organizations/schema.ts";

/**
 * Gives an organization its own route for a model. Refuses a model, channel or upstream model that is not configured,
 * so that every saved route works. Throws 403 when a member of only some organizations adds a target, because a
 * new target could be a more expensive model at the same price.
 */
export async function setRoute(
  context: AdminContext,
  input: z.output<typeof routeSchema>,
): Promise<EffectiveRoute> {
  const { organizationId, model, version, ...route } = input;
  requireModel(context.catalogue, model, "model");
  const after = await changeOrganization(context, organizationId, (before) => {
    requireVersion(before, version);
    requireTargets(context, before, { model, targets: route.targets, field: "targets" });
    return { routes: { ...before.routes, [model]: route } };
  });
  return effectiveRoute(context.catalogue, after, model);
}

/** Throws when the member may not save these targets as an organization's own route for a model. */
function requireTargets(
  context: AdminContext,
  organization: OrganizationRecord,
  { model, targets, field }: { model: string; targets: RouteRecord["targets"]; field: string },
): void {
  // This check refuses new targets first, because the messages of `checkTarget` name channels that a member of only
  // some organizations may not see.
  if (!decidesForAll(context))
    requireKnownTargets(context.catalogue, organization, { model, targets, field });
  for (const [index, target] of targets.entries())
    checkTarget(context.catalogue, target, `${field}[${index}]`);
  requireDistinct(targets, field);
}

function requireDistinct(targets: RouteRecord["targets"], field: string): void {
  const seen = new Set<string>();
  for (const [index, { channel, upstreamModel }] of targets.entries()) {
    const name = `${channel}/${upstreamModel}`;
    if (seen.has(name))
      throw new AdminError(400, `${field}[${index}]`, operatorMessage("error.route.twice", { target: name }));
    seen.add(name);
  }
}

/**
 * Returns the route of a draft. Throws when the member could not save it, either as an organization's own route or as
 * the default route. A default route may use any model of a channel.
 */
export function resolveDraft(
  context: AdminContext,
  organization: OrganizationRecord,
  model: string,
  { isDefault, ...draft }: z.output<typeof routeDraftSchema>,
): Route {
  const field = "draft.targets";
  if (isDefault && !decidesForAll(context))
    throw new AdminError(403, "draft.isDefault", operatorMessage("error.route.default", {}));
  if (isDefault) requireDistinct(draft.targets, field);
  else requireTargets(context, organization, { model, targets: draft.targets, field });
  const targets = draft.targets.map((target, index) => {
    const channel = requireChannel(context.catalogue, target, `${field}[${index}]`);
    return Object.assign({ ...target }, { channel });
  });
  return { strategy: draft.strategy, targets };
}

/**
 * Throws 403 for a new target. A member of the organization may order, weight and remove targets, but a new target
 * could be a more expensive model at the same price.
 */
function requireKnownTargets(
  { routes }: Catalogue,
  { routes: own }: OrganizationRecord,
  { model, targets, field }: { model: string; targets: RouteRecord["targets"]; field: string },
): void {
  const configured = (routes.get(model)?.targets ?? []).map(({ channel, upstreamModel }) => ({
    channel: channel.id,
    upstreamModel,
  }));
  const known = [...configured, ...(own[model]?.targets ?? [])];
  const isKnown = (target: RouteRecord["targets"][number]): boolean =>
    known.some((each) => each.channel === target.channel && each.upstreamModel === target.upstreamModel);
  const index = targets.findIndex((target) => !isKnown(target));
  if (index >= 0)
    throw new AdminError(403, `${field}[${index}]`, operatorMessage("error.route.target", { model }));
}

/** Removes an organization's own route, so that the default route applies. Throws 404 when there is no own route. */
export async function removeRoute(
  context: AdminContext,
  organizationId: string,
  model: string,
): Promise<void> {
  await changeOrganization(context, organizationId, (organization) => {
    if (!Object.hasOwn(organization.routes, model))
      throw new AdminError(
        404,
        "model",
        operatorMessage("error.route.none", { organization: organizationId, model }),
      );
    const { [model]: _, ...routes } = organization.routes;
    return { routes };
  });
}

/** An organization's own route for a model or, if there is none, the default route. */
interface EffectiveRoute extends RouteRecord {
  model: string;
  source: "organization" | "default";
  /** Version of the organization, whose row contains its own routes. */
  version: number;
}

/**
 * Returns an organization's own or default routes, for one model or for all. A member of only some organizations sees
 * only the models that the organization may call.
 */
export async function listRoutes(
  context: AdminContext,
  organizationId: string,
  model?: string,
): Promise<EffectiveRoute[]> {
  const organization = await getOrganization(context, organizationId);
  if (model !== undefined) requireModel(context.catalogue, model, "model");
  const ids = model === undefined ? [...context.catalogue.models.declared.keys()] : [model];
  const shown = decidesForAll(context) ? ids : ids.filter((id) => mayCallModel(organization, id));
  return shown.map((id) => effectiveRoute(context.catalogue, organization, id));
}

function effectiveRoute(
  catalogue: Catalogue,
  organization: OrganizationRecord,
  model: string,
): EffectiveRoute {
  const { version } = organization;
  const own = organization.routes[model];
  if (own) return { model, source: "organization", ...own, version };
  const route = catalogue.routes.get(model);
  const targets = (route?.targets ?? []).map((target) =>
    Object.assign({ ...target }, { channel: target.channel.id }),
  );
  return { model, source: "default", strategy: route?.strategy ?? "ordered", targets, version };
}

/** Returns a saved route with its channels, or the name of its first channel that is no longer configured. */
export function resolveRoute(record: RouteRecord, channels: Catalogue["channels"]): Route | string {
  const targets: Route["targets"] = [];
  for (const { channel: id, ...target } of record.targets) {
    const channel = channels.get(id);
    if (!channel) return id;
    targets.push({ channel, ...target });
  }
  return { strategy: record.strategy, targets };
}

const routeFields = {
  strategy: z.enum(["ordered", "weighted"]).default("ordered"),
  targets: z
    .array(
      z.strictObject({
        channel: z.string(),
        upstreamModel: z.string(),
        weight: z.int().min(1).max(1_000_000).default(1),
        reasoning: targetReasoningSchema,
      }),
    )
    .min(1)
    .max(16),
};

export const routeSchema = z.strictObject({
  organizationId: z.string(),
  model: z.string(),
  version: versionSchema.describe("Of the organization"),
  ...routeFields,
});

/** A route that is not saved. */
export const routeDraftSchema = z.strictObject({
  isDefault: z.boolean().default(false).describe("It would be the default route, not the organization's own"),
  ...routeFields,
});

function checkTarget(catalogue: Catalogue, target: RouteRecord["targets"][number], field: string): void {
  const channel = requireChannel(catalogue, target, field);
  const upstreams = upstreamModels(catalogue, channel.provider);
  // The upstream model `*` belongs to a route for a pattern and stands for any name.
  if (upstreams.has(target.upstreamModel) || upstreams.has("*")) return;
  const figures = { channel: target.channel, upstream: target.upstreamModel };
  const suggestion = meantBy(target.upstreamModel, upstreams);
  const message = suggestion
    ? operatorMessage("error.route.upstream", { ...figures, ...suggestion })
    : operatorMessage("error.route.upstream.none", figures);
  throw new AdminError(400, `${field}.upstreamModel`, message);
}

/** Returns the channel of a target. Throws 400 when there is none. */
function requireChannel(catalogue: Catalogue, target: { channel: string }, field: string): Channel {
  const channel = catalogue.channels.get(target.channel);
  if (channel) return channel;
  const known = [...catalogue.channels.keys()];
  const suggestion = meantBy(target.channel, known) ?? { known: known.join(", ") };
  const message = operatorMessage("error.channel.unknown", { channel: target.channel, ...suggestion });
  throw new AdminError(400, `${field}.channel`, message);
}

/** Returns every upstream model that the configuration uses at this provider, through any channel. */
function upstreamModels(catalogue: Catalogue, provider: string): Set<string> {
  const targets = [...catalogue.routes.declared.values()].flatMap((route) => route.targets);
  return new Set(
    targets.filter((target) => target.channel.provider === provider).map((target) => target.upstreamModel),
  );
}
