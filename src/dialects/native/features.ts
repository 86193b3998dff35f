import { featureNamed, isStandardTier, type FeatureUse } from "../../domain/feature.ts";
import { snakeCase } from "../../lib/casing.ts";
import type { StreamedObject } from "../../lib/json-spool.ts";
import { namesAudio } from "../vendor-features.ts";
import { findField, findObjects } from "./fields.ts";

/**
 * The features that a `generateContent` body uses. Every tool but declared functions runs at the vendor (Gemini API
 * reference, `Tool`), those that are not known included.
 */
export function readFeatures(body: StreamedObject, config: StreamedObject): FeatureUse[] {
  const uses: FeatureUse[] = [];
  for (const object of [body, config]) {
    const tier = findField(object, "serviceTier");
    if (tier && !isStandardTier(tier.value)) uses.push({ feature: "service_tier", param: tier.key });
  }
  const modalities = findField(config, "responseModalities");
  if (modalities && namesAudio(modalities.value))
    uses.push({ feature: "audio_output", param: `generationConfig.${modalities.key}` });
  for (const [index, tool] of (findObjects(body, "tools")?.value ?? []).entries()) {
    for (const [name, value] of Object.entries(tool)) {
      const feature = snakeCase(name);
      if (feature === "function_declarations" || value === null) continue;
      uses.push({ feature: featureNamed(feature), param: `tools[${index}].${name}` });
    }
  }
  return uses;
}
