import type { Feature } from "./feature.ts";
import { FAMILIES, type Family } from "./family.ts";
import type { SizeTier } from "./usage.ts";

/** A model under the name that callers use. Routes decide which channels serve it. */
export type Model = TextModel | ImageModel | EmbeddingModel;

/** Ids of models that may be called. `has` also considers patterns such as `openai/*`. `"*"` is all models. */
export type ModelSet = { has(id: string): boolean } | "*";

interface ModelFacts {
  id: string;
  /** The pattern that the model was derived from; absent when the model is declared by its own id. */
  pattern?: string;
  displayName: string;
  ownedBy: string;
  /** Date in the list of models, in Unix seconds. */
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
  /**
   * The form in which a request that the gateway translates asks the vendor for reasoning, if the target sets no form.
   * Absent for a model without reasoning.
   */
  reasoning?: ReasoningControl;
}

/**
 * The forms in which reasoning is requested. `effort` is a word and `budget` a number of tokens. `adaptive` lets the
 * model decide, with a word as guidance (Claude). `level` is one of Gemini's levels.
 */
export const REASONING_CONTROLS = ["effort", "budget", "adaptive", "level"] as const;

export type ReasoningControl = (typeof REASONING_CONTROLS)[number];

/** The forms of reasoning requests that a target can set; with `none`, the target is never asked for reasoning. */
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

/** The sizes and options of an image model, from the catalogue. Sizes are in pixels. */
export interface ImageCapability {
  /** `pixels`: any width and height within `bounds`; `table`: only the sizes in `sizes`. */
  sizeMode: "pixels" | "table";
  /** Tiers of the model, smallest first. The first is the default. */
  tiers: SizeTier[];
  /** Aspect ratios as `W:H`; the first is the default. */
  ratios: string[];
  /**
   * Exact size for a tier and ratio: `sizes["1K"]["16:9"] = "1376x768"`. For `pixels` models, these sizes are preferred
   * to computed ones.
   */
  sizes: Partial<Record<SizeTier, Record<string, string>>>;
  /** Bounds of width and height; only for `pixels` models. */
  bounds?: { minPixels: number; maxPixels: number; maxEdge: number; multiple: number; maxRatio: number };
  /** Qualities of the model, lowest first; empty when it has none. */
  qualities: string[];
  /** The quality that the model uses for `auto`; absent when it is unknown. */
  defaultQuality?: string;
  /** Formats that the vendor delivers, its default first. */
  formats: ImageFormat[];
  backgrounds: string[];
  /** Maximum number of images in one call to the vendor. */
  maxImagesPerCall: number;
  /** Maximum number of reference images, when it differs from that of the family. */
  maxReferences?: number;
}

/** Returns the maximum number of reference images in one request: that of the model, else that of the family. */
export function referenceLimit({ family, image }: ImageModel): number {
  return image.maxReferences ?? FAMILIES[family].references;
}
