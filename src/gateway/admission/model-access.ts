import { hasScope, type Principal, type Scope } from "../../domain/api-key.ts";
import type { FeatureUse } from "../../domain/feature.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import type { Model, ModelSet } from "../../domain/model.ts";
import { isPattern } from "../../lib/pattern-map.ts";
import type { Route, Target } from "../../domain/channel.ts";
import type { Directory } from "../snapshot.ts";

/** The scope that a key needs to call models of a type. */
export const MODEL_SCOPES: Readonly<Record<Model["type"], Scope>> = {
  chat: "ai:llm",
  messages: "ai:llm",
  embedding: "ai:llm",
  image: "ai:image",
};

/**
 * True when the access rules allow a call: the model is not retired, its id is not a pattern, the key has the scope for
 * the model's type, and key and organization may both call the model.
 */
export function mayCall({ key, organization }: Principal, { id, type, isRetired }: Model): boolean {
  return (
    !isPattern(id) &&
    !isRetired &&
    hasScope(key, MODEL_SCOPES[type]) &&
    has(key.models, id) &&
    has(organization.models, id)
  );
}

/** The endpoints that serve models of a type, in the words of the error messages. */
const SERVED: Readonly<Record<Model["type"], string>> = {
  chat: "text",
  messages: "text",
  embedding: "`/v1/embeddings` and `:embedContent`",
  image: "the image endpoints",
};

/** Returns the model that a request names. Throws a `GatewayError` with the reason when the request cannot use it. */
export function requireModel<Type extends Model["type"]>(
  directory: Directory,
  { key, organization }: Principal,
  id: string,
  types: readonly Type[],
): Extract<Model, { type: Type }> {
  const model = isPattern(id) ? undefined : directory.models.get(id);
  const param = "model";
  if (!model) {
    const message = "There is no model with this id. `GET /v1/models` lists those you can call.";
    throw new GatewayError("model_not_available_for_routing", message, { param });
  }
  if (model.isRetired) throw new GatewayError("model_retired", "This model has been retired.", { param });
  if (!isOneOf(model, types)) {
    const message = `This model serves ${SERVED[model.type]}, not this endpoint.`;
    throw new GatewayError("wrong_endpoint_for_model", message, { param });
  }
  if (!has(key.models, id)) {
    throw new GatewayError("model_not_allowed_for_api_key", "This key may not call this model.", { param });
  }
  if (!has(organization.models, id)) {
    const message = "This model is not enabled for your organization.";
    throw new GatewayError("model_not_authorized_for_org", message, { param });
  }
  return model;
}

/** Throws when a request uses a feature that the model's record does not allow. */
export function requireFeatures({ allowedFeatures = [] }: Model, uses: readonly FeatureUse[]): void {
  for (const { feature, param } of uses) {
    if (feature !== null && allowedFeatures.includes(feature)) continue;
    const message = `\`${param}\` uses a feature that this model is not offered with. Leave it out.`;
    throw new GatewayError("unsupported_parameter", message, { param });
  }
}

/**
 * Seconds until a retry for a model without a usable channel in this process. Another process may be able to serve the
 * model at once.
 */
const UNUSABLE_RETRY_SECONDS = 5;

/**
 * Returns the organization's own route of a model, or else the configured route. Throws `dependency_unavailable` when
 * this process cannot use any channel of the configured route, and `model_not_available_for_routing` when there is no
 * route or the organization's own route has no usable channel.
 */
export function routeOf(directory: Directory, { organization }: Principal, model: string): Route {
  const route = organization.routes.get(model) ?? directory.routes.get(model);
  if (route && route.targets.length > 0) return route;
  if (route && organization.routes.get(model) === undefined) {
    const message = "This model cannot be served here at the moment. Try again later.";
    throw new GatewayError("dependency_unavailable", message, {
      retryAfterSeconds: UNUSABLE_RETRY_SECONDS,
      cause: `every channel that serves ${model} is unusable here; \`channels list\` says why`,
    });
  }
  const message = "No channel serves this model at the moment.";
  throw new GatewayError("model_not_available_for_routing", message, { param: "model" });
}

/**
 * Returns the model's target on the organization's fallback channel. Searches the organization's own route, then the
 * configured route. Returns null when neither route has such a target or the organization has set no fallback time or
 * channel.
 */
export function fallbackOf(directory: Directory, { organization }: Principal, model: string): Target | null {
  const { fallbackAfterMs, fallbackChannel } = organization.settings;
  if (fallbackAfterMs === null || fallbackChannel === null) return null;
  const routes = [organization.routes.get(model), directory.routes.get(model)];
  const targets = routes.flatMap((route) => route?.targets ?? []);
  return targets.find(({ channel }) => channel.id === fallbackChannel) ?? null;
}

function has(models: ModelSet, id: string): boolean {
  return models === "*" || models.has(id);
}

function isOneOf<Type extends Model["type"]>(
  model: Model,
  types: readonly Type[],
): model is Extract<Model, { type: Type }> {
  return types.some((type) => type === model.type);
}
