/**
 * Request features with extra cost or risk. With them, a vendor may bill more than tokens and pictures, use another
 * model than the requested one, or give access to objects in the operator's account. A model serves only the features
 * that its record allows.
 */
export const FEATURES = [
  "service_tier",
  "web_search_options",
  "search_parameters",
  "models",
  "plugins",
  "file_id",
  "web_search",
  "web_fetch",
  "retrieval",
  "file_search",
  "code_interpreter",
  "code_execution",
  "container",
  "mcp_servers",
  "speed",
  "inference_geo",
  "google_search",
  "google_search_retrieval",
  "google_maps",
  "enterprise_web_search",
  "url_context",
  "computer_use",
  "audio_output",
] as const;

export type Feature = (typeof FEATURES)[number];

/**
 * Features that vendors bill by use, in addition to tokens. If a model with a token price allows such a feature, its
 * price contains an amount per use. An amount of zero means that the price of tokens covers the feature.
 */
const BILLED_FEATURES: readonly Feature[] = [
  "web_search_options",
  "search_parameters",
  "plugins",
  "web_search",
  "retrieval",
  "file_search",
  "code_interpreter",
  "code_execution",
  "container",
  "google_search",
  "google_search_retrieval",
  "google_maps",
  "enterprise_web_search",
];

/** Features whose uses at least one protocol reports. Only these can have an amount per use above zero. */
export const COUNTED_FEATURES = ["web_search", "web_fetch"] as const satisfies readonly Feature[];

export const PRICEABLE_FEATURES: readonly Feature[] = [...BILLED_FEATURES, "web_fetch"];

/** A feature that a request uses, and the field that requests it. No record can allow a null feature. */
export interface FeatureUse {
  feature: Feature | null;
  param: string;
  /** Maximum number of uses in the request; absent when the request sets none. */
  maxUses?: number;
}

export function isBilledFeature(feature: Feature): boolean {
  return BILLED_FEATURES.includes(feature);
}

/** True when at least one protocol reports the number of uses of a feature. */
export function isCountedFeature(feature: Feature): boolean {
  return COUNTED_FEATURES.some((each) => each === feature);
}

const STANDARD_TIERS: ReadonlySet<unknown> = new Set([
  undefined,
  null,
  "auto",
  "default",
  "standard",
  "standard_only",
]);

/** True when a requested service tier is billed at the model's ordinary price. */
export function isStandardTier(tier: unknown): boolean {
  return STANDARD_TIERS.has(tier);
}

/** Returns the feature with this name, or null if there is none. */
export function featureNamed(name: string): Feature | null {
  return FEATURES.find((feature) => feature === name) ?? null;
}
