import type { Feature } from "./feature.ts";
import { FAMILIES, type Family } from "./family.ts";
import type { SizeTier } from "./usage.ts";

/** A model by the name that callers use. Routes decide which channels serve it. */
export type Model = TextModel | ImageModel | EmbeddingModel;

/** Models that may be called, patterns such as `openai/*` already followed; `"*"` is all. */
export type ModelSet = { has(id: string): boolean } | "*";

interface ModelFacts {
  id: string;
  /** The pattern that the model was derived from; absent when it is declared by its own id. */
  pattern?: string;
  displayName: string;
  ownedBy: string;
  /** Unix seconds. */
  created: number;
  /** Calls of a retired model get 400 `model_retired`. */
  isRetired: boolean;
  /** ISO date on which it will be retired. */
  shutdownDate?: string;
  /** Features with a price or an owner of their own that its callers may use. */
  allowedFeatures?: readonly Feature[];
}

export interface TextModel extends ModelFacts {
  type: "chat" | "messages";
  /** Output tokens assumed for the token limit when the request sets no maximum. */
  defaultOutputTokens: number;
  /** The largest output of one request. */
  maxOutputTokens: number;
  /** Tokens of input and output together; undefined where nobody has said it. */
  contextWindow?: number;
  modalities: { input: string[]; output: string[] };
  /**
   * The form in which vendors of other protocols are told of reasoning, unless the target sets one; absent for a model
   * without reasoning.
   */
  reasoning?: ReasoningControl;
}

/**
 * The ways to request reasoning: by a word, by a number of tokens, by the model itself with a word as guidance
 * (Claude's `adaptive`), or by Gemini's levels.
 */
export const REASONING_CONTROLS = ["effort", "budget", "adaptive", "level"] as const;

export type ReasoningControl = (typeof REASONING_CONTROLS)[number];

/** The same for one target; `none` stands for a target that is told nothing of reasoning. */
export const TARGET_REASONING = [...REASONING_CONTROLS, "none"] as const;

export type TargetReasoning = (typeof TARGET_REASONING)[number];

export interface EmbeddingModel extends ModelFacts {
  type: "embedding";
  /** Dimensions of a vector when the request names no number. */
  dimensions: number;
}

export interface ImageModel extends ModelFacts {
  type: "image";
  family: Family;
  image: ImageCapability;
}

export type ImageFormat = "png" | "jpeg" | "webp";

/** The capability of an image model, as catalogue data. Sizes are in pixels. */
export interface ImageCapability {
  /** `pixels`: any width and height within `bounds`; `table`: only the sizes in `sizes`. */
  sizeMode: "pixels" | "table";
  /** Smallest first; the first is the default. */
  tiers: SizeTier[];
  /** Aspect ratios as `W:H`; the first is the default. */
  ratios: string[];
  /** Exact size of a tier and ratio: `sizes["1K"]["16:9"] = "1376x768"`. For `pixels` models the preferred sizes. */
  sizes: Partial<Record<SizeTier, Record<string, string>>>;
  /** Only for `pixels`. */
  bounds?: { minPixels: number; maxPixels: number; maxEdge: number; multiple: number; maxRatio: number };
  /** Its qualities, lowest first; empty when it has none. */
  qualities: string[];
  /** The quality that the model uses for `auto`, if that is known. */
  defaultQuality?: string;
  /** Formats the vendor delivers, its default first. */
  formats: ImageFormat[];
  backgrounds: string[];
  /** Maximum images of one upstream call. */
  maxImagesPerCall: number;
  /** Most reference images, when the model differs from its family. */
  maxReferences?: number;
}

/** Returns the most reference images of one request: the model's own number, or the family's. */
export function referenceLimit({ family, image }: ImageModel): number {
  return image.maxReferences ?? FAMILIES[family].references;
}
