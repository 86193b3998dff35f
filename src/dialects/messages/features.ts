import { isStandardTier, type Feature, type FeatureUse } from "../../domain/feature.ts";
import { saneCount } from "../../domain/usage.ts";
import { isObject } from "../../lib/json.ts";

/** Fields that are features wherever they have a value. Those of `fallbacks` are other models of the vendor. */
const WHOLE_FIELDS: Readonly<Record<string, Feature>> = {
  container: "container",
  mcp_servers: "mcp_servers",
  fallbacks: "models",
  inference_geo: "inference_geo",
};
export const FEATURE_FIELDS = ["service_tier", "speed", ...Object.keys(WHOLE_FIELDS)];

/**
 * Beginnings of the types of tools that run at the vendor (Anthropic API, "Server tools"), which have the date of
 * their version behind them. Tools of all other types run at the caller.
 */
const SERVER_TOOLS: readonly (readonly [prefix: string, feature: Feature])[] = [
  ["web_search", "web_search"],
  ["web_fetch", "web_fetch"],
  ["code_execution", "code_execution"],
  ["mcp_toolset", "mcp_servers"],
  ["advisor", "models"],
];

/** The features that a request's fields and tools use. */
export function readFeatures(body: Record<string, unknown>): FeatureUse[] {
  const uses: FeatureUse[] = [];
  if (!isStandardTier(body["service_tier"])) uses.push({ feature: "service_tier", param: "service_tier" });
  if (!isStandardTier(body["speed"])) uses.push({ feature: "speed", param: "speed" });
  for (const [param, feature] of Object.entries(WHOLE_FIELDS)) {
    const value = body[param];
    if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) continue;
    uses.push({ feature, param });
  }
  const { tools } = body;
  if (!Array.isArray(tools)) return uses;
  for (let index = 0; index < tools.length; index += 1) {
    const tool: unknown = tools[index];
    const type = isObject(tool) ? tool["type"] : undefined;
    const found = typeof type === "string" && SERVER_TOOLS.find(([prefix]) => type.startsWith(prefix));
    if (!found) continue;
    const maxUses = isObject(tool) ? saneCount(tool["max_uses"]) : null;
    const use = { feature: found[1], param: `tools[${index}].type` };
    uses.push(maxUses === null ? use : { ...use, maxUses });
  }
  return uses;
}
