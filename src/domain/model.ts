import type { Family } from "./family.ts";
import type { SizeTier } from "./usage.ts";

/** A model as callers name it. What serves it is a matter of routes. */
export type Model = TextModel | ImageModel;

interface ModelFacts {
  id: string;
  displayName: string;
  ownedBy: string;
  /** Unix seconds. */
  created: number;
  /** A retired model answers 400 `model_retired`. */
  isRetired: boolean;
  /** ISO date on which it will be retired. */
  shutdownDate?: string;
}

export interface TextModel extends ModelFacts {
  type: "chat" | "messages";
  /** Output tokens assumed when the caller sets no cap; what a hold and a token limit are computed from. */
  defaultOutputTokens: number;
  /** Most output tokens it can give. */
  maxOutputTokens: number;
  modalities: { input: string[]; output: string[] };
}

export interface ImageModel extends ModelFacts {
  type: "image";
  family: Family;
  image: ImageCapability;
}

export type ImageFormat = "png" | "jpeg" | "webp";

/** What an image model can really do; data of the catalogue, never of code. Pixels unless said otherwise. */
export interface ImageCapability {
  /** `pixels`: any width and height within `bounds`; `table`: only the sizes in `sizes`. */
  sizeMode: "pixels" | "table";
  /** Tiers it offers, smallest first; the first is the default. */
  tiers: SizeTier[];
  /** Aspect ratios it offers as `W:H`; the first is the default. */
  ratios: string[];
  /** Exact size of a tier and ratio: `sizes["1K"]["16:9"] = "1376x768"`. For `pixels` models the preferred sizes. */
  sizes: Partial<Record<SizeTier, Record<string, string>>>;
  /** Only for `pixels`. */
  bounds?: { minPixels: number; maxPixels: number; maxEdge: number; multiple: number; maxRatio: number };
  /** Quality words it takes, lowest first; empty when it has none. */
  qualities: string[];
  /** Quality it uses when asked for `auto` or nothing. */
  defaultQuality?: string;
  /** Formats it delivers by itself, its default first. */
  formats: ImageFormat[];
  backgrounds: string[];
  /** Most images one upstream call gives. */
  maxImagesPerCall: number;
}
