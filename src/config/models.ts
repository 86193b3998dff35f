import type { ConfiguredModel } from "../admin/configuration-ports.ts";
import type { Channel, Route, Target } from "../domain/channel.ts";
import type { ImageCapability, Model } from "../domain/model.ts";
import type { PriceRow } from "../domain/price.ts";
import { formatPath, readStrictly } from "../lib/schema-problems.ts";
import { isPattern, PatternMap } from "../lib/pattern-map.ts";
import { didYouMean } from "../lib/suggest.ts";
import { mergeEntries, type ShippedModel } from "./catalogue.ts";
import { SANDBOX } from "./channels.ts";
import { checkFeaturePrices, dropUnpricedFeatures } from "./feature-prices.ts";
import type { FileModel } from "./file-schema.ts";
import {
  embeddingModelSchema,
  imageModelSchema,
  textModelSchema,
  type CompleteModel,
} from "./model-schema.ts";
import { toPriceRow } from "./price-row.ts";
import type { Report } from "./problems.ts";

export interface ModelSources {
  declared: Readonly<Record<string, FileModel>>;
  shipped: ReadonlyMap<string, ShippedModel>;
  channels: ReadonlyMap<string, Channel>;
  /** Channels of the catalogue that are off, and which channel serves their models instead. */
  substitutes: ReadonlyMap<string, string>;
  /** Ids of channels that the file or the database declares, also of those that could not be built. */
  declaredChannels: ReadonlySet<string>;
  /** Providers of stored channels that cannot be used. */
  unusableProviders: ReadonlySet<string>;
  isSandboxOn: boolean;
}

export interface ModelTables {
  models: PatternMap<Model>;
  routes: PatternMap<Route>;
  prices: PatternMap<PriceRow>;
}

/** A model with everything known of it, served or not. */
type DescribedModel = Omit<ConfiguredModel, "origin" | "declared">;

interface DescribedTables extends ModelTables {
  described: DescribedModel[];
}

/**
 * Models with their default routes and prices. A shipped model that no channel can serve is left out, unless it is
 * retired or its channels cannot be used here: its callers then get that error.
 */
export function buildModels(sources: ModelSources, report: Report): DescribedTables {
  const models = new Map<string, Model>();
  const routes = new Map<string, Route>();
  const prices = new Map<string, PriceRow>();
  const described: DescribedModel[] = [];
  for (const id of new Set([...sources.shipped.keys(), ...Object.keys(sources.declared)])) {
    const shipped = sources.shipped.get(id);
    const { route: declaredRoute, ...declared } = sources.declared[id] ?? {};
    const path = sources.declared[id]
      ? formatPath(["models", id])
      : `${shipped?.source}: ${formatPath(["models", id])}`;
    const complete = completeModel(path, mergeEntries(declared, shipped?.entry ?? {}), report);
    if (!complete) continue;
    // A shipped price may cover tiers or qualities that the file has removed from the model.
    if (declared.price || !sources.declared[id]) checkImagePrice(path, complete, report);
    const isInherited = sources.declared[id] !== undefined && declared.allowed_features === undefined;
    if (isInherited) dropUnpricedFeatures(complete);
    else checkFeaturePrices(path, complete, report);
    const route = declaredRoute
      ? buildRoute(path, id, declaredRoute, sources, report)
      : shippedRoute(shipped, sources);
    const model = toModel(id, complete);
    const price = complete.price ? toPriceRow(complete.price) : null;
    const isDisabled = complete.enabled === false;
    described.push({ id, model, route, price, isDisabled });
    if (isDisabled) continue;
    const isUnusable = declaredRoute
      ? declaredRoute.targets.length > 0
      : shipped?.targets.some(({ provider }) => sources.unusableProviders.has(provider)) === true;
    if (route.targets.length === 0 && complete.retired !== true && !isUnusable) {
      if (!shipped && !declaredRoute)
        report(`${path}.route`, "is missing: name at least one channel under targets");
      continue;
    }
    models.set(id, model);
    routes.set(id, route);
    if (price) prices.set(id, price);
    if ("prices" in complete) addPriceTable(prices, id, complete, report);
  }
  return { ...followPatterns(models, routes, prices), described };
}

/** A pattern with a table of prices: each row is a price of what the pattern and its key cover together. */
function addPriceTable(
  prices: Map<string, PriceRow>,
  id: string,
  { prices: rows = {} }: Extract<CompleteModel, { type: "chat" | "messages" }>,
  report: Report,
): void {
  if (!isPattern(id) && Object.keys(rows).length > 0)
    report(formatPath(["models", id, "prices"]), "is for a pattern such as openai/*; a model has one price");
  else for (const [key, row] of Object.entries(rows)) prices.set(id.slice(0, -1) + key, toPriceRow(row));
}

/** Lets the entries of patterns stand for every model that they cover. */
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

function completeModel(path: string, entry: FileModel, report: Report): CompleteModel | null {
  const { upstream_model: _, ...fields }: FileModel & { upstream_model?: string } = entry;
  if (fields.type === undefined) {
    report(`${path}.type`, 'is missing: it must be "image" or "chat" or "messages" or "embedding"');
    return null;
  }
  const result = readByType(fields.type, fields);
  if ("value" in result) return result.value;
  for (const problem of result.problems) report(`${path}.${problem.path}`, problem.message);
  return null;
}

function readByType(type: Model["type"], fields: FileModel) {
  if (type === "image") return readStrictly(imageModelSchema, fields, { noun: "setting of an image model" });
  if (type === "embedding")
    return readStrictly(embeddingModelSchema, fields, { noun: "setting of an embedding model" });
  return readStrictly(textModelSchema, fields, { noun: "setting of a text model" });
}

/** A tier or quality that the model does not have would never be charged, so naming it is a mistake. */
function checkImagePrice(path: string, model: CompleteModel, report: Report): void {
  if (model.type !== "image" || !model.price) return;
  const { tiers, qualities } = model.image;
  const known = [...qualities, "auto", "*"];
  const rows = Object.entries(model.price.per_image);
  const pricePath = `${path}.price.per_image`;
  if (rows.length === 0) report(pricePath, `is empty: name a price for ${tiers.join(", ")}`);
  for (const [tier, row] of rows) {
    const names = Object.keys(row);
    if (!tiers.some((each) => each === tier))
      report(`${pricePath}.${tier}`, `is not one of the model's tiers; it has ${tiers.join(", ")}`);
    else if (names.length === 0)
      report(`${pricePath}.${tier}`, 'is empty: name a price for "*", every quality');
    for (const name of names.filter((each) => !known.includes(each))) {
      const suggestion = didYouMean(name, known) || `; it has ${known.join(", ")}`;
      report(`${pricePath}.${formatPath([tier, name])}`, `is not one of the model's qualities${suggestion}`);
    }
  }
}

function buildRoute(
  path: string,
  id: string,
  declared: NonNullable<FileModel["route"]>,
  sources: ModelSources,
  report: Report,
): Route {
  const targets: Target[] = [];
  for (const [index, target] of declared.targets.entries()) {
    const channel = sources.channels.get(target.channel);
    if (channel)
      targets.push({
        channel,
        upstreamModel: target.upstream_model ?? (isPattern(id) ? "*" : id),
        weight: target.weight,
      });
    else if (!sources.declaredChannels.has(target.channel)) {
      const known = [...sources.channels.keys(), ...sources.declaredChannels];
      const isOff = target.channel === SANDBOX && !sources.isSandboxOn;
      const suggestion = isOff
        ? "; the sandbox is off beside real vendors unless SANDBOX=on"
        : didYouMean(target.channel, known) || "; declare it under channels or set its credential";
      report(
        `${path}.route.targets[${index}].channel`,
        `"${target.channel}" is not a known channel${suggestion}`,
      );
    }
  }
  return { strategy: declared.strategy, targets };
}

function shippedRoute(
  shipped: ShippedModel | undefined,
  { channels, substitutes }: Pick<ModelSources, "channels" | "substitutes">,
): Route {
  const targets: Target[] = [];
  for (const target of shipped?.targets ?? []) {
    const channel = channels.get(target.channel) ?? channels.get(substitutes.get(target.channel) ?? "");
    // A declared channel may have taken the id for another vendor, which does not serve this model.
    if (channel?.provider === target.provider)
      targets.push({ channel, upstreamModel: target.upstreamModel, weight: 1 });
  }
  return { strategy: "ordered", targets };
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
