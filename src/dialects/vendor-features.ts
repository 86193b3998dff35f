import { isStandardTier, type Feature, type FeatureUse } from "../domain/feature.ts";
import { knownNames } from "./fields.ts";

/**
 * Fields that use a feature if they have a value other than false or an empty list. They are checked in all protocols
 * but the native one, because vendors accept many of them in several protocols (OpenRouter and xAI API references).
 * `fallbacks` contains names of other models.
 */
const WHOLE_FIELDS: Readonly<Record<string, Feature>> = {
  web_search_options: "web_search_options",
  search_parameters: "search_parameters",
  models: "models",
  fallbacks: "models",
  plugins: "plugins",
  container: "container",
  mcp_servers: "mcp_servers",
  inference_geo: "inference_geo",
  // Field of Alibaba Cloud Model Studio ("Web search").
  enable_search: "web_search",
};

/** The uses of all `WHOLE_FIELDS`. They are made only once, because every request is compared with them. */
const WHOLE_FIELD_USES: readonly FeatureUse[] = Object.entries(WHOLE_FIELDS).map(([param, feature]) => ({
  feature,
  param,
}));

export const FEATURE_FIELDS: readonly string[] = ["service_tier", "modalities", ...Object.keys(WHOLE_FIELDS)];

/**
 * Prefixes of the types of tools that run at a vendor, for all protocols but the native one. A version date may follow.
 * Other tools run at the caller, except a shell in a container. Null means that no model may use the tool.
 */
const SERVER_TOOLS: readonly (readonly [prefix: string, feature: Feature | null])[] = [
  ["web_search", "web_search"],
  ["x_search", "web_search"],
  ["live_search", "web_search"],
  // A tool of Groq (Groq API, "Browser Search").
  ["browser_search", "web_search"],
  // Functions of Moonshot for web search (Moonshot API, "Use Kimi API's Internet Search").
  ["builtin_function", "web_search"],
  ["web_fetch", "web_fetch"],
  ["retrieval", "retrieval"],
  ["file_search", "file_search"],
  ["collections_search", "file_search"],
  // A search in the files of a conversation (xAI API, "Tools").
  ["attachment_search", "file_search"],
  ["code_interpreter", "code_interpreter"],
  ["code_execution", "code_execution"],
  ["programmatic_tool_calling", "code_execution"],
  ["mcp_toolset", "mcp_servers"],
  ["mcp", null],
  ["image_generation", null],
  ["advisor", "models"],
];

/** Names of a tool's fields that decide which features the tool uses, and how often. */
export const TOOL_NAMES = knownNames(["type", "tools", "environment", "max_uses"]);

/** Returns the features of a request's top-level fields. An empty list and false use no feature. */
export function fieldFeatures(body: Record<string, unknown>): FeatureUse[] {
  const uses: FeatureUse[] = [];
  if (!isStandardTier(body["service_tier"])) uses.push({ feature: "service_tier", param: "service_tier" });
  if (namesAudio(body["modalities"])) uses.push({ feature: "audio_output", param: "modalities" });
  for (const use of WHOLE_FIELD_USES) {
    const value = body[use.param];
    if (
      value === undefined ||
      value === null ||
      value === false ||
      (Array.isArray(value) && value.length === 0)
    )
      continue;
    uses.push(use);
  }
  return uses;
}

/**
 * True when a reply should contain other media than text and pictures. A speech token costs several times as much as a
 * text token (OpenAI and Gemini, prices of audio), but the gateway's prices have no category for speech.
 */
export function namesAudio(modalities: unknown): boolean {
  if (modalities === undefined || modalities === null) return false;
  const named: unknown[] = Array.isArray(modalities) ? modalities : [modalities];
  return named.some((each) => !SILENT_MODALITIES.has(String(each).toLowerCase()));
}

const SILENT_MODALITIES: ReadonlySet<string> = new Set(["text", "image"]);

/**
 * Returns the feature of a tool type. Null for a tool that no model may use; undefined for a tool that runs at the
 * caller. Vendors that relay other vendors add a vendor's name as a prefix: `name:web_search`.
 */
export function serverTool(type: unknown): Feature | null | undefined {
  if (typeof type !== "string") return undefined;
  const own = type.slice(type.lastIndexOf(":") + 1);
  return SERVER_TOOLS.find(([prefix]) => own.startsWith(prefix))?.[1];
}
