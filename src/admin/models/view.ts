import type { z } from "zod";
import { endpointsOf } from "../../domain/endpoints.ts";
import { FAMILIES } from "../../domain/family.ts";
import { referenceLimit, type ImageModel, type Model } from "../../domain/model.ts";
import type { Price } from "../../domain/price.ts";
import { formatNanos } from "../../lib/money.ts";
import { type ConfiguredValues, storedEntry } from "../configuration/configured.ts";
import type { ConfiguredModel } from "../configuration/store-port.ts";
import type { modelSchema } from "./schema.ts";
import type { Payer, PriceIndex } from "../prices/price-index.ts";

/** A model in the form that administration shows. */
export type ModelView = z.output<typeof modelSchema>;

/** Maximum number of pictures per request (`n` of the images endpoints). It is the same for every model. */
const MAX_IMAGES = 4;
const FORMATS = ["png", "jpeg", "webp"];

export function viewModel(
  configured: ConfiguredValues,
  { id, model, origin, declared, route, price, isDisabled }: ConfiguredModel,
  { prices, payer, now }: { prices: PriceIndex; payer: Payer | null; now: number },
): ModelView {
  const entry = storedEntry(configured, "model", id);
  const currency = price?.currency ?? "USD";
  const unit = model.type === "image" ? "image" : "token";
  return {
    id,
    type: model.type,
    displayName: model.displayName,
    ownedBy: model.ownedBy,
    origin,
    isOverride: declared !== null && declared["type"] === undefined,
    isRoutable: !isDisabled && route.targets.length > 0,
    isDisabled,
    isRetired: model.isRetired,
    shutdownDate: model.shutdownDate ?? null,
    endpoints: endpointsOf(model),
    route: {
      strategy: route.strategy,
      targets: route.targets.map(({ channel, ...target }) => ({ channel: channel.id, ...target })),
      isOwn: declared?.["route"] !== undefined,
    },
    image: model.type === "image" ? viewImage(model) : null,
    text: viewText(model),
    embedding: model.type === "embedding" ? { dimensions: model.dimensions } : null,
    price: viewPrice(prices(payer ?? { id: "", currency }, id, unit, now)),
    definition: declared === null ? null : { ...declared },
    problems: configured.state.problems
      .filter((problem) => problem.kind === "model" && problem.id === id)
      .map(({ path, message }) => `${path} ${message}`),
    version: entry ? Number(entry.revision) : null,
  };
}

function viewImage(model: ImageModel): ModelView["image"] {
  const { family, image } = model;
  const { mask, quality } = FAMILIES[family];
  return {
    family,
    tiers: image.tiers,
    ratios: image.ratios,
    sizes: image.sizes,
    bounds: image.bounds ?? null,
    qualities: quality ? ["auto", ...image.qualities] : [],
    backgrounds: quality ? image.backgrounds : [],
    formats: FORMATS,
    vendorFormats: image.formats,
    maxReferences: referenceLimit(model),
    hasMasks: mask,
    maxImages: MAX_IMAGES,
  };
}

function viewText(model: Model): ModelView["text"] {
  if (model.type === "image" || model.type === "embedding") return null;
  return {
    maxOutputTokens: model.maxOutputTokens,
    defaultOutputTokens: model.defaultOutputTokens,
    modalities: model.modalities,
    hasTools: model.modalities.output.includes("text"),
    reasoning: model.reasoning ?? null,
    allowedFeatures: model.allowedFeatures ? [...model.allowedFeatures] : null,
  };
}

function viewPrice(price: Price | null): ModelView["price"] {
  if (!price) return null;
  const { currency, unit } = price;
  const amountsOf = (
    rates: Readonly<Record<string, { amount: bigint } | undefined>>,
  ): Record<string, string> =>
    Object.fromEntries(
      Object.entries(rates).flatMap(([name, rate]) => (rate ? [[name, formatNanos(rate.amount)]] : [])),
    );
  if (price.unit === "token")
    return { currency, unit, perImage: null, perMillion: amountsOf(price.perMillion) };
  const tiers = Object.entries(price.perImage).map(([tier, rates]) => [tier, amountsOf(rates ?? {})]);
  return { currency, unit, perImage: Object.fromEntries(tiers), perMillion: null };
}
