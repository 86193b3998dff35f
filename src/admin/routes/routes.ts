import { z } from "zod";
import type { Route } from "../../domain/channel.ts";
import { didYouMean } from "../../lib/suggest.ts";
import { AdminError } from "../admin-error.ts";
import { requireModel, type AdminContext, type Catalogue } from "../context.ts";
import { requireVersion, targetReasoningSchema, versionSchema } from "../input.ts";
import { changeOrganization, getOrganization } from "../organizations/organizations.ts";
import { decidesForAll } from "../sign-in/signed-in.ts";
import type { OrganizationRecord, RouteRecord } from "../organizations/schema.ts";

/**
 * Gives an organization its own route for a model. Refused when it names a model, channel or upstream model
 * that is not configured, so that every saved route can be followed. Throws 403 where a member of some organizations names
 * a target that is not in the route as it is: the model's price is meant for those.
 */
export async function setRoute(
  context: AdminContext,
  input: z.output<typeof routeSchema>,
): Promise<EffectiveRoute> {
  const { organizationId, model, version, ...route } = input;
  requireModel(context.catalogue, model, "model");
  const seen = new Set<string>();
  for (const [index, target] of route.targets.entries()) {
    const field = `targets[${index}]`;
    checkTarget(context.catalogue, target, field);
    const name = `${target.channel}/${target.upstreamModel}`;
    if (seen.has(name)) throw new AdminError(400, field, `"${name}" is named twice`);
    seen.add(name);
  }
  const after = await changeOrganization(context, organizationId, (before) => {
    requireVersion(before, version);
    if (!decidesForAll(context)) requireKnownTargets(context.catalogue, before, model, route.targets);
    return { routes: { ...before.routes, [model]: route } };
  });
  return effectiveRoute(context.catalogue, after, model);
}

/**
 * A member of the organization may order, weigh and leave out; another target could be a dearer model at this one's
 * price.
 */
function requireKnownTargets(
  { routes }: Catalogue,
  { routes: own }: OrganizationRecord,
  model: string,
  targets: RouteRecord["targets"],
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
    throw new AdminError(
      403,
      `targets[${index}]`,
      `"${model}" has no such target: adding one needs a member of all organizations`,
    );
}

/** Returns the model to the configured default route. Throws 404 when the organization has no own route. */
export async function removeRoute(
  context: AdminContext,
  organizationId: string,
  model: string,
): Promise<void> {
  await changeOrganization(context, organizationId, (organization) => {
    if (!Object.hasOwn(organization.routes, model))
      throw new AdminError(404, "model", `"${organizationId}" has no route of its own for "${model}"`);
    const { [model]: _, ...routes } = organization.routes;
    return { routes };
  });
}

/** The route of an organization's requests, and where it is kept. */
interface EffectiveRoute extends RouteRecord {
  model: string;
  source: "organization" | "default";
  /** Version of the organization, whose row contains its routes. */
  version: number;
}

/** Effective routes of an organization, of one model or of all. */
export async function listRoutes(
  context: AdminContext,
  organizationId: string,
  model?: string,
): Promise<EffectiveRoute[]> {
  const organization = await getOrganization(context, organizationId);
  if (model !== undefined) requireModel(context.catalogue, model, "model");
  const ids = model === undefined ? [...context.catalogue.models.declared.keys()] : [model];
  return ids.map((id) => effectiveRoute(context.catalogue, organization, id));
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

/** A saved route with its channels, or the name of the first that is not configured any more. */
export function resolveRoute(record: RouteRecord, channels: Catalogue["channels"]): Route | string {
  const targets: Route["targets"] = [];
  for (const { channel: id, ...target } of record.targets) {
    const channel = channels.get(id);
    if (!channel) return id;
    targets.push({ channel, ...target });
  }
  return { strategy: record.strategy, targets };
}

export const routeSchema = z.strictObject({
  organizationId: z.string(),
  model: z.string(),
  version: versionSchema.describe("Of the organization"),
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
});

function checkTarget(catalogue: Catalogue, target: RouteRecord["targets"][number], field: string): void {
  const channel = catalogue.channels.get(target.channel);
  if (!channel) {
    const known = [...catalogue.channels.keys()];
    const suggestion = didYouMean(target.channel, known) || `; there are ${known.join(", ")}`;
    throw new AdminError(
      400,
      `${field}.channel`,
      `"${target.channel}" is not a configured channel${suggestion}`,
    );
  }
  const upstreams = upstreamModels(catalogue, channel.provider);
  // `*` is the upstream model of a pattern, which may be any.
  if (upstreams.has(target.upstreamModel) || upstreams.has("*")) return;
  const suggestion = didYouMean(target.upstreamModel, upstreams);
  throw new AdminError(
    400,
    `${field}.upstreamModel`,
    `no configured model asks "${channel.provider}" for "${target.upstreamModel}"${suggestion || "; declare it under models in the configuration"}`,
  );
}

/** Every upstream model that the configuration calls at this provider, through any of its channels. */
function upstreamModels(catalogue: Catalogue, provider: string): Set<string> {
  const targets = [...catalogue.routes.declared.values()].flatMap((route) => route.targets);
  return new Set(
    targets.filter((target) => target.channel.provider === provider).map((target) => target.upstreamModel),
  );
}
