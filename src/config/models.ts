import type { ConfiguredModel } from "../admin/configuration/store-port.ts";
import type { Route } from "../domain/channel.ts";
import type { ImageCapability, Model } from "../domain/model.ts";
import type { PriceRow } from "../domain/price.ts";
import { formatPath, listed, readStrictly } from "../domain/schema-problems.ts";
import { PatternMap } from "../lib/pattern-map.ts";
import { mergeEntries, type ShippedModel } from "./catalogue.ts";
import type { FileModel } from "./file-schema.ts";
import {
  embeddingModelSchema,
  imageModelSchema,
  textModelSchema,
  type CompleteModel,
} from "./model-schema.ts";
import {
  addPriceTable,
  checkFeaturePrices,
  checkImagePrice,
  dropUnpricedFeatures,
  toPriceRow,
} from "./model-prices.ts";
import { buildRoute, shippedRoute, type RouteSources } from "./model-routes.ts";
import type { ReportShown } from "./problems.ts";
import { operatorMessage } from "../domain/operator-message.ts";

export interface ModelSources extends RouteSources {
  declared: Readonly<Record<string, FileModel>>;
  shipped: ReadonlyMap<string, ShippedModel>;
  /** Providers of the stored channels that this process cannot use. */
  unusableProviders: ReadonlySet<string>;
}

export interface ModelTables {
  models: PatternMap<Model>;
  routes: PatternMap<Route>;
  prices: PatternMap<PriceRow>;
}

/** A model with all its settings, including a model that cannot be called. */
type DescribedModel = Omit<ConfiguredModel, "origin" | "declared">;

interface DescribedTables extends ModelTables {
  described: DescribedModel[];
}

/**
 * Returns the models with their default routes and prices. Leaves out a disabled model, and a shipped model that no
 * channel can serve. Keeps a retired model, and a model whose channels this process cannot use; calls of such models
 * get an error.
 */
export function buildModels(sources: ModelSources, report: ReportShown): DescribedTables {
  const models = new Map<string, Model>();
  const routes = new Map<string, Route>();
  const prices = new Map<string, PriceRow>();
  const described: DescribedModel[] = [];
  for (const id of new Set([...sources.shipped.keys(), ...Object.keys(sources.declared)])) {
    const complete = readModel(id, sources, report);
    if (!complete) continue;
    const route = routeOf(id, sources, report);
    const model = toModel(id, complete);
    const price = complete.price ? toPriceRow(complete.price) : null;
    const isDisabled = complete.enabled === false;
    described.push({ id, model, route, price, isDisabled });
    if (isDisabled || !(route.targets.length > 0 || model.isRetired || hasUnusableTargets(id, sources)))
      continue;
    models.set(id, model);
    routes.set(id, route);
    if (price) prices.set(id, price);
    if ("prices" in complete) addPriceTable(prices, id, complete, report);
  }
  return { ...followPatterns(models, routes, prices), described };
}

/**
 * Returns a model's settings: the settings of the file or the database, completed by the catalogue. Reports problems.
 */
function readModel(id: string, sources: ModelSources, report: ReportShown): CompleteModel | null {
  const shipped = sources.shipped.get(id);
  const declared = sources.declared[id];
  const own = formatPath(["models", id]);
  const path = declared ? own : `${shipped?.source}: ${own}`;
  const { route: _, ...settings } = declared ?? {};
  const complete = completeModel(path, mergeEntries(settings, shipped?.entry ?? {}), report);
  if (!complete) return null;
  // The shipped price of a model with a declared entry is not checked: the entry may have removed tiers or qualities
  // that the price still contains.
  if (declared?.price || !declared) checkImagePrice(path, complete, report);
  if (declared && declared.allowed_features === undefined) dropUnpricedFeatures(complete);
  else checkFeaturePrices(path, complete, report);
  return complete;
}

/**
 * Returns the declared route, else the route of the catalogue. Reports a model without a route, unless the model is
 * disabled or retired.
 */
function routeOf(id: string, sources: ModelSources, report: ReportShown): Route {
  const path = formatPath(["models", id]);
  const shipped = sources.shipped.get(id);
  const declared = sources.declared[id];
  if (declared?.route) return buildRoute(path, id, declared.route, sources, report);
  if (!shipped && declared?.enabled !== false && declared?.retired !== true)
    report(`${path}.route`, operatorMessage("input.targets", {}));
  return shippedRoute(shipped, sources);
}

/** For a model whose route is empty: true when channels of its targets exist, but this process cannot use them. */
function hasUnusableTargets(id: string, { shipped, declared, unusableProviders }: ModelSources): boolean {
  const route = declared[id]?.route;
  if (route) return route.targets.length > 0;
  return shipped.get(id)?.targets.some(({ provider }) => unusableProviders.has(provider)) === true;
}

/** Applies each entry with a pattern to all models that match the pattern. */
function followPatterns(
  models: ReadonlyMap<string, Model>,
  routes: ReadonlyMap<string, Route>,
  prices: ReadonlyMap<string, PriceRow>,
): ModelTables {
  return {
    models: new PatternMap(models, (model, id) => ({ ...model, id, pattern: model.id, displayName: id })),
    routes: new PatternMap(routes, (route, _, rest) => ({
      ...route,
      targets: route.targets.map((target) => ({
        ...target,
        upstreamModel: target.upstreamModel.replace("*", () => rest),
      })),
    })),
    prices: new PatternMap(prices),
  };
}

function completeModel(path: string, entry: FileModel, report: ReportShown): CompleteModel | null {
  const { upstream_model: _, ...fields }: FileModel & { upstream_model?: string } = entry;
  if (fields.type === undefined) {
    const values = listed(["image", "chat", "messages", "embedding"]);
    report(`${path}.type`, operatorMessage("input.missing.values", { values }));
    return null;
  }
  const result = readByType(fields.type, fields);
  if ("value" in result) return result.value;
  for (const problem of result.problems) report(`${path}.${problem.path}`, problem);
  return null;
}

function readByType(type: Model["type"], fields: FileModel) {
  if (type === "image") return readStrictly(imageModelSchema, fields, { noun: "setting of an image model" });
  if (type === "embedding")
    return readStrictly(embeddingModelSchema, fields, { noun: "setting of an embedding model" });
  return readStrictly(textModelSchema, fields, { noun: "setting of a text model" });
}

function toModel(id: string, model: CompleteModel): Model {
  const facts = {
    id,
    displayName: model.display_name ?? id,
    ownedBy: model.owned_by ?? "gateway",
    created: Date.parse(model.created ?? "1970-01-01") / 1000,
    isRetired: model.retired ?? false,
    ...(model.allowed_features && { allowedFeatures: model.allowed_features }),
    ...(model.shutdown_date !== undefined && { shutdownDate: model.shutdown_date }),
  };
  if (model.type === "image")
    return { ...facts, type: "image", family: model.family, image: toCapability(model.image) };
  if (model.type === "embedding") return { ...facts, type: "embedding", dimensions: model.dimensions };
  return {
    ...facts,
    type: model.type,
    defaultOutputTokens: Math.min(model.default_output_tokens, model.max_output_tokens),
    maxOutputTokens: model.max_output_tokens,
    ...(model.context_window !== undefined && { contextWindow: model.context_window }),
    modalities: model.modalities ?? { input: ["text"], output: ["text"] },
    ...(model.reasoning && { reasoning: model.reasoning }),
  };
}

function toCapability(image: Extract<CompleteModel, { type: "image" }>["image"]): ImageCapability {
  const { bounds } = image;
  return {
    sizeMode: image.size_mode,
    tiers: image.tiers,
    ratios: image.ratios,
    sizes: image.sizes,
    ...(bounds && {
      bounds: {
        minPixels: bounds.min_pixels,
        maxPixels: bounds.max_pixels,
        maxEdge: bounds.max_edge,
        multiple: bounds.multiple,
        maxRatio: bounds.max_ratio,
      },
    }),
    qualities: image.qualities,
    ...(image.default_quality !== undefined && { defaultQuality: image.default_quality }),
    formats: image.formats,
    backgrounds: image.backgrounds,
    maxImagesPerCall: image.max_images_per_call,
    ...(image.max_references !== undefined && { maxReferences: image.max_references }),
  };
}
