import type { Feature } from "./feature.ts";
import { FAMILIES, type Family } from "./family.ts";
import type { SizeTier } from "./usage.ts";

/** A model under the name that callers use. Routes decide which channels serve the model. */
export type Model = TextModel | ImageModel | EmbeddingModel;

/** Ids of models that may be called; `"*"` for all models. `has` also considers patterns such as `openai/*`. */
export type ModelSet = { has(id: string): boolean } | "*";

interface ModelFacts {
  id: string;
  /** The pattern that the model was derived from; absent when the model is declared by its own id. */
  pattern?: string;
  displayName: string;
  ownedBy: string;
  /** Date for the list of models, in Unix seconds. */
  created: number;
  /** Calls of a retired model get 400 `model_retired`. */
  isRetired: boolean;
  /** ISO date on which the model will be retired. */
  shutdownDate?: string;
  /** The `FEATURES` that callers of the model may use; absent for none. */
  allowedFeatures?: readonly Feature[];
}

export interface TextModel extends ModelFacts {
  type: "chat" | "messages";
  /** Number of output tokens that counts in the token limit when the request sets no maximum. */
  defaultOutputTokens: number;
  /** Maximum number of output tokens of one request. */
  maxOutputTokens: number;
  /** Maximum number of input and output tokens together; undefined when it is not declared. */
  contextWindow?: number;
  modalities: { input: string[]; output: string[] };
  /** The form of a translated request for reasoning, if the target sets none. Absent for a model without reasoning. */
  reasoning?: ReasoningControl;
}

/**
 * The forms of a request for reasoning. `effort` is a word and `budget` a number of tokens. `adaptive` lets the model
 * decide, with a word as guidance (Claude). `level` is one of Gemini's levels.
 */
export const REASONING_CONTROLS = ["effort", "budget", "adaptive", "level"] as const;

export type ReasoningControl = (typeof REASONING_CONTROLS)[number];

/** The forms of a reasoning request that a target can set. With `none`, the target never gets such a request. */
export const TARGET_REASONING = [...REASONING_CONTROLS, "none"] as const;

export type TargetReasoning = (typeof TARGET_REASONING)[number];

export interface EmbeddingModel extends ModelFacts {
  type: "embedding";
  /** Dimensions of a vector when the request sets none. */
  dimensions: number;
}

export interface ImageModel extends ModelFacts {
  type: "image";
  family: Family;
  image: ImageCapability;
}

export type ImageFormat = "png" | "jpeg" | "webp";

/** The sizes and options of an image model. Sizes are in pixels. */
export interface ImageCapability {
  /** `pixels`: any width and height within `bounds`; `table`: only the sizes in `sizes`. */
  sizeMode: "pixels" | "table";
  /** Tiers of the model, smallest first. The first tier is the default. */
  tiers: SizeTier[];
  /** Aspect ratios as `W:H`. The first ratio is the default. */
  ratios: string[];
  /** Exact size for a tier and ratio: `sizes["1K"]["16:9"] = "1376x768"`. It takes precedence over a computed size. */
  sizes: Partial<Record<SizeTier, Record<string, string>>>;
  /** Bounds of width and height; only for `pixels` models. */
  bounds?: { minPixels: number; maxPixels: number; maxEdge: number; multiple: number; maxRatio: number };
  /** Qualities of the model, lowest first; empty when the model has none. */
  qualities: string[];
  /** The quality that the model uses for `auto`; absent when it is unknown. */
  defaultQuality?: string;
  /** Formats that the vendor delivers, its default first. */
  formats: ImageFormat[];
  backgrounds: string[];
  /** Maximum number of images in one call to the vendor. */
  maxImagesPerCall: number;
  /** Maximum number of reference images, if it differs from the family's. */
  maxReferences?: number;
}

/** Returns the maximum number of reference images in one request: the model's if it has one, else the family's. */
export function referenceLimit({ family, image }: ImageModel): number {
  return image.maxReferences ?? FAMILIES[family].references;
}
