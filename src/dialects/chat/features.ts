import type { FeatureUse } from "../../domain/feature.ts";
import { isObject } from "../../lib/json.ts";
import { refuseCaseVariants } from "../field-names.ts";
import { fieldFeatures, serverTool, TOOL_NAMES } from "../vendor-features.ts";

/** The features that a request's fields and tools use. */
export function readFeatures(body: Record<string, unknown>): FeatureUse[] {
  const uses = fieldFeatures(body);
  const { tools } = body;
  if (!Array.isArray(tools)) return uses;
  for (let index = 0; index < tools.length; index += 1) {
    const tool: unknown = tools[index];
    if (!isObject(tool)) continue;
    refuseCaseVariants(tool, TOOL_NAMES, `tools[${index}]`);
    const feature = serverTool(tool["type"]);
    if (feature !== undefined) uses.push({ feature, param: `tools[${index}].type` });
  }
  return uses;
}
