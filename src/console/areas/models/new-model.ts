import type { Input } from "../../api/call.ts";
import type { ModelRow } from "./model-state.tsx";

export interface NewModelValues {
  id: string;
  displayName: string;
  type: "chat" | "messages" | "embedding" | "image";
  channel: string | null;
  upstreamModel: string;
  maxOutputTokens: number | null;
  dimensions: number | null;
  /** Id of the image model from which the new model takes its capabilities. */
  like: string | null;
  /** Prices as decimals; empty for no price. */
  priceInput: string;
  priceOutput: string;
  pricePerImage: string;
}

export const NEW_MODEL: NewModelValues = {
  id: "",
  displayName: "",
  type: "chat",
  channel: null,
  upstreamModel: "",
  maxOutputTokens: 8192,
  dimensions: null,
  like: null,
  priceInput: "",
  priceOutput: "",
  pricePerImage: "",
};

/** Returns the model that the form describes. An image model gets the capabilities of one of the models in `images`. */
export function newModel(values: NewModelValues, images: readonly ModelRow[]): Input<"models.create"> {
  const { id, displayName, channel, upstreamModel } = values;
  const target = {
    channel: channel ?? "",
    ...(upstreamModel.trim() && { upstreamModel: upstreamModel.trim() }),
  };
  return {
    id: id.trim(),
    ...(displayName.trim() !== "" && { displayName: displayName.trim() }),
    route: { strategy: "ordered", targets: [target] },
    definition: definitionOf(values, images),
  };
}

function definitionOf(values: NewModelValues, images: readonly ModelRow[]): Record<string, unknown> {
  const { type, maxOutputTokens, dimensions, like, priceInput, priceOutput, pricePerImage } = values;
  const perMillion = {
    ...(priceInput !== "" && { input: priceInput }),
    ...(priceOutput !== "" && type !== "embedding" && { output: priceOutput }),
  };
  const price = Object.keys(perMillion).length > 0 && { price: { currency: "USD", per_million: perMillion } };
  if (type === "embedding") return { type, dimensions, ...price };
  if (type !== "image") return { type, max_output_tokens: maxOutputTokens, ...price };
  const image = images.find((model) => model.id === like)?.image;
  if (!image) return { type };
  const { tiers, ratios, sizes, bounds, qualities, backgrounds, vendorFormats, maxReferences } = image;
  return {
    type,
    family: image.family,
    image: {
      size_mode: bounds ? "pixels" : "table",
      tiers,
      ratios,
      sizes,
      ...(bounds && {
        bounds: {
          min_pixels: bounds.minPixels,
          max_pixels: bounds.maxPixels,
          max_edge: bounds.maxEdge,
          multiple: bounds.multiple,
          max_ratio: bounds.maxRatio,
        },
      }),
      qualities: qualities.filter((quality) => quality !== "auto"),
      backgrounds,
      formats: vendorFormats,
      max_references: maxReferences,
    },
    ...(pricePerImage !== "" && {
      price: {
        currency: "USD",
        per_image: Object.fromEntries(tiers.map((tier) => [tier, { "*": pricePerImage }])),
      },
    }),
  };
}
