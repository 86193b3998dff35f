import { isStandardTier, type FeatureUse } from "../../domain/feature.ts";
import { saneCount } from "../../domain/usage.ts";
import { isObject } from "../../lib/json.ts";
import { refuseCaseVariants } from "../field-names.ts";
import { fieldFeatures, serverTool, TOOL_NAMES } from "../vendor-features.ts";

/** The features that a request's fields and tools use. */
export function readFeatures(body: Record<string, unknown>): FeatureUse[] {
  const uses = fieldFeatures(body);
  if (!isStandardTier(body["speed"])) uses.push({ feature: "speed", param: "speed" });
  const { tools } = body;
  if (!Array.isArray(tools)) return uses;
  for (let index = 0; index < tools.length; index += 1) {
    const tool: unknown = tools[index];
    if (!isObject(tool)) continue;
    refuseCaseVariants(tool, TOOL_NAMES, `tools[${index}]`);
    const feature = serverTool(tool["type"]);
    if (feature === undefined) continue;
    const maxUses = saneCount(tool["max_uses"]);
    const use = { feature, param: `tools[${index}].type` };
    uses.push(maxUses === null ? use : { ...use, maxUses });
  }
  return uses;
}
