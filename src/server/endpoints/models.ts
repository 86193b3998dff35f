import { endpointsOf } from "../../domain/endpoints.ts";
import { FAMILIES } from "../../domain/family.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import {
  referenceLimit,
  type EmbeddingModel,
  type ImageCapability,
  type ImageModel,
  type Model,
  type TextModel,
} from "../../domain/model.ts";
import type { Principal } from "../../domain/api-key.ts";
import { mayCall } from "../../gateway/admission/model-access.ts";
import { findPrice } from "../../gateway/metering/price.ts";
import type { Snapshot } from "../../gateway/snapshot.ts";
import type { Clock } from "../../lib/clock.ts";
import { queryOf, type AuthenticatedExchange } from "../http-exchange.ts";
import { baseHeaders } from "../respond.ts";
import type { HttpRoute } from "../routes.ts";
import { isModelName } from "./native-call.ts";
import { nativeModelRoutes } from "./native-models.ts";

/**
 * Routes of the models that a key can call. The list also has fields that official clients do not read. The native
 * protocol's form of the list has its own path. Clients of the native protocol also get this form at the shared path.
 */
export function modelRoutes(snapshot: Snapshot, clock: Clock): HttpRoute[] {
  const native = nativeModelRoutes((principal) => callable(snapshot, clock, principal));
  const common = {
    method: "GET",
    family: "images",
    auth: "key",
    scope: null,
    keyHeaders: (headers: Headers): readonly string[] => (isMessages(headers) ? ["x-api-key"] : []),
  } as const satisfies Partial<HttpRoute>;
  return [
    {
      ...common,
      path: "/v1/models",
      name: "models",
      ...ifNative(native.list),
      handle: (exchange: AuthenticatedExchange) =>
        tagged(exchange, list(exchange, callable(snapshot, clock, exchange.principal))),
    },
    {
      ...common,
      path: "/v1/models/{id}",
      name: "models.one",
      takes: isModelName,
      ...ifNative(native.one),
      handle: (exchange: AuthenticatedExchange) => {
        const model = callable(snapshot, clock, exchange.principal).find(
          ({ id }) => id === exchange.parameter,
        );
        const isForMessages = isMessages(exchange.request.headers);
        if (!model || (isForMessages && !isText(model)))
          throw new GatewayError("not_found", "There is no model with this id that you can call.");
        const text =
          isForMessages && isText(model) ? JSON.stringify(describeForMessages(model)) : describe(model);
        return tagged(exchange, text);
      },
    },
    native.list,
    native.one,
  ];
}

/** Returns a `routeFor` that passes requests from clients of the native protocol to the route `native`. */
function ifNative(native: HttpRoute): Pick<HttpRoute, "routeFor"> {
  const isNative = ({ headers }: Request): boolean =>
    headers.has("x-goog-api-key") || headers.has("x-goog-api-client");
  return { routeFor: ({ request }) => (isNative(request) ? native : null) };
}

/** True for clients of the messages protocol, which need their own list format. The version header identifies them. */
function isMessages(headers: Headers): boolean {
  return headers.has("anthropic-version");
}

function list({ request }: AuthenticatedExchange, models: readonly Model[]): string {
  if (!isMessages(request.headers)) return `{"object":"list","data":[${models.map(describe).join(",")}]}`;
  const { page, hasMore } = messagesPage(models.filter(isText), queryOf(request.url));
  return JSON.stringify({
    data: page.map(describeForMessages),
    has_more: hasMore,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  });
}

const DEFAULT_PAGE = 20;
const MAX_PAGE = 1_000;

/**
 * Returns the first page, the page after `after_id`, or the page directly before `before_id`. `hasMore` is true if more
 * models follow in this direction (Anthropic API, "List models"). Throws a `GatewayError`.
 */
function messagesPage(
  models: readonly TextModel[],
  query: URLSearchParams,
): { page: readonly TextModel[]; hasMore: boolean } {
  const limit = Number(query.get("limit") ?? DEFAULT_PAGE);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE)
    throw wrongQuery("limit", `must be a whole number from 1 to ${MAX_PAGE}`);
  const indexOf = (name: string): number | null => {
    const id = query.get(name);
    if (id === null) return null;
    const index = models.findIndex((model) => model.id === id);
    if (index < 0) throw wrongQuery(name, "is no model of this list");
    return index;
  };
  const before = indexOf("before_id");
  if (before !== null)
    return { page: models.slice(Math.max(0, before - limit), before), hasMore: before > limit };
  const start = (indexOf("after_id") ?? -1) + 1;
  return { page: models.slice(start, start + limit), hasMore: start + limit < models.length };
}

function wrongQuery(param: string, must: string): GatewayError {
  return new GatewayError("invalid_parameter", `\`${param}\` ${must}.`, { param });
}

function isText(model: Model): model is TextModel {
  return "maxOutputTokens" in model;
}

/** Describes a model in the form that official clients of the messages protocol read (Anthropic API, "List models"). */
function describeForMessages(model: TextModel): object {
  const { id, displayName, created, shutdownDate } = model;
  return {
    type: "model",
    id,
    display_name: displayName,
    created_at: new Date(created * 1000).toISOString(),
    max_input_tokens: null,
    max_tokens: model.maxOutputTokens,
    // A model with a shutdown date is only deprecated, because it can be called until this date.
    lifecycle: shutdownDate ? "deprecated" : "active",
    deprecated_at: null,
    retires_at: shutdownDate ? new Date(shutdownDate).toISOString() : null,
    line: null,
    capabilities: null,
  };
}

/**
 * Returns the declared models that a key can call. Models without a price are left out, because a call fails with a
 * 402.
 */
function callable(snapshot: Snapshot, clock: Clock, principal: Principal): Model[] {
  const directory = snapshot.directory();
  const now = clock.now();
  return [...directory.models.declared.values()].filter(
    (model) => mayCall(principal, model) && findPrice(directory, principal.organization, model, now),
  );
}

/** Returns a response with an ETag, or a 304 when the client already has the text. */
function tagged({ request, requestId }: AuthenticatedExchange, text: string): Response {
  const etag = `"${Bun.hash(text).toString(36)}"`;
  const headers = {
    ...baseHeaders(requestId),
    etag,
    "cache-control": "private, max-age=0, must-revalidate",
  };
  const known = request.headers.get("if-none-match")?.split(",") ?? [];
  if (known.some((tag) => tag.trim().replace(/^W\//, "") === etag))
    return new Response(null, { status: 304, headers });
  return new Response(text, { headers: { ...headers, "content-type": "application/json" } });
}

/** Returns a model as JSON. The result is cached, because the models of a directory never change. */
function describe(model: Model): string {
  let text = DESCRIPTIONS.get(model);
  if (text === undefined) DESCRIPTIONS.set(model, (text = JSON.stringify(descriptionOf(model))));
  return text;
}

const DESCRIPTIONS = new WeakMap<Model, string>();

function descriptionOf(model: Model): object {
  return {
    id: model.id,
    object: "model",
    created: model.created,
    owned_by: model.ownedBy,
    display_name: model.displayName,
    type: model.type,
    endpoints: endpointsOf(model),
    ...describeByType(model),
    pricing_url: `/v1/pricing/lookup?model=${encodeURIComponent(model.id)}`,
    ...(model.shutdownDate && { shutdown_date: model.shutdownDate }),
  };
}

function describeByType(model: Model): object {
  if (model.type === "image") return describeImage(model);
  return model.type === "embedding" ? describeEmbedding(model) : describeText(model);
}

function describeEmbedding({ dimensions }: EmbeddingModel): object {
  return {
    family: null,
    modalities: { input: ["text"], output: ["embedding"] },
    parameters: { dimensions: { type: "range", min: 1 } },
    limits: { dimensions },
  };
}

function describeText({ modalities, maxOutputTokens }: TextModel): object {
  return {
    family: null,
    modalities,
    parameters: { max_tokens: { type: "range", min: 1, max: maxOutputTokens } },
    limits: { max_output_tokens: maxOutputTokens },
  };
}

function describeImage(model: ImageModel): object {
  const { family, image } = model;
  const rules = FAMILIES[family];
  return {
    family,
    modalities: { input: ["text", "image"], output: ["image"] },
    parameters: {
      size: { tiers: image.tiers, ...(image.bounds && { pixels: describeBounds(image.bounds) }) },
      aspectRatio: { type: "enum", values: image.ratios },
      ...(rules.quality && { quality: { type: "enum", values: ["auto", ...image.qualities] } }),
      ...(rules.quality && { background: { type: "enum", values: image.backgrounds } }),
      ...(rules.mask && { mask: { type: "image" } }),
      output_format: { type: "enum", values: ["png", "jpeg", "webp"] },
      output_compression: { type: "range", min: 0, max: 100 },
      n: { type: "range", min: 1, max: 4 },
    },
    limits: { reference_images: referenceLimit(model), n_max: 4 },
  };
}

function describeBounds(bounds: NonNullable<ImageCapability["bounds"]>): object {
  return {
    min_pixels: bounds.minPixels,
    max_pixels: bounds.maxPixels,
    max_edge: bounds.maxEdge,
    multiple_of: bounds.multiple,
    max_ratio: bounds.maxRatio,
  };
}
