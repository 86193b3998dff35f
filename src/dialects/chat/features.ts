import { isStandardTier, type Feature, type FeatureUse } from "../../domain/feature.ts";
import { isObject } from "../../lib/json.ts";

/** Fields that are features wherever they have a value. */
const WHOLE_FIELDS = ["web_search_options", "search_parameters", "models", "plugins"] as const;
export const FEATURE_FIELDS = ["service_tier", ...WHOLE_FIELDS] as const;

/** Types of tools that run at the vendor; those of other types run at the caller. */
const SERVER_TOOLS: ReadonlyMap<string, Feature> = new Map([
  ["web_search", "web_search"],
  ["web_search_preview", "web_search"],
  ["x_search", "web_search"],
  ["live_search", "web_search"],
  // Moonshot API, "Use Kimi API's Internet Search": the built-in functions search the web.
  ["builtin_function", "web_search"],
  ["retrieval", "retrieval"],
  ["file_search", "file_search"],
  ["collections_search", "file_search"],
  ["code_interpreter", "code_interpreter"],
  ["code_execution", "code_execution"],
]);

/** The features that a request's fields and tools use. */
export function readFeatures(body: Record<string, unknown>): FeatureUse[] {
  const uses: FeatureUse[] = [];
  if (!isStandardTier(body["service_tier"])) uses.push({ feature: "service_tier", param: "service_tier" });
  for (const name of WHOLE_FIELDS) {
    const value = body[name];
    if (value !== undefined && value !== null) uses.push({ feature: name, param: name });
  }
  const { tools } = body;
  if (!Array.isArray(tools)) return uses;
  for (let index = 0; index < tools.length; index += 1) {
    const tool: unknown = tools[index];
    const feature = isObject(tool) ? serverTool(tool["type"]) : undefined;
    if (feature !== undefined) uses.push({ feature, param: `tools[${index}].type` });
  }
  return uses;
}

/** Relays put their own name before the type: `name:web_search`. */
function serverTool(type: unknown): Feature | undefined {
  return typeof type === "string" ? SERVER_TOOLS.get(type.slice(type.lastIndexOf(":") + 1)) : undefined;
}
