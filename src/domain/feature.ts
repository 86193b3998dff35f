/**
 * Request features that a vendor bills beside tokens and pictures, that choose another model, or that name objects in
 * the operator's account at the vendor. A model serves those that its record allows.
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
] as const;

export type Feature = (typeof FEATURES)[number];

/** A feature that a request uses, and the field that does; null is one that no record can allow. */
export interface FeatureUse {
  feature: Feature | null;
  param: string;
}

const STANDARD_TIERS: ReadonlySet<unknown> = new Set([
  undefined,
  null,
  "auto",
  "default",
  "standard",
  "standard_only",
]);

/** Whether a requested service tier is billed at the model's ordinary price. */
export function isStandardTier(tier: unknown): boolean {
  return STANDARD_TIERS.has(tier);
}

/** The feature of that name, or null. */
export function featureNamed(name: string): Feature | null {
  return FEATURES.find((feature) => feature === name) ?? null;
}
