import { isStandardTier, type Feature, type FeatureUse } from "../domain/feature.ts";
import { knownNames } from "./fields.ts";

/**
 * Fields that are features wherever they have a value. Vendors of one protocol take many of them in their other ones
 * too (OpenRouter and xAI API references), so every protocol reads all of them. `fallbacks` names other models.
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
  // Alibaba Cloud Model Studio, "Web search".
  enable_search: "web_search",
};

/** Listed once: every request is compared with them. */
const WHOLE_FIELD_USES: readonly FeatureUse[] = Object.entries(WHOLE_FIELDS).map(([param, feature]) => ({
  feature,
  param,
}));

export const FEATURE_FIELDS: readonly string[] = ["service_tier", "modalities", ...Object.keys(WHOLE_FIELDS)];

/**
 * Prefixes of the types of tools that run at a vendor of any protocol; a date of the version may follow. Tools of other
 * types run at the caller. Null: no model is offered with this tool.
 */
const SERVER_TOOLS: readonly (readonly [prefix: string, feature: Feature | null])[] = [
  ["web_search", "web_search"],
  ["x_search", "web_search"],
  ["live_search", "web_search"],
  // Groq API, "Browser Search".
  ["browser_search", "web_search"],
  // Moonshot API, "Use Kimi API's Internet Search": the built-in functions search the web.
  ["builtin_function", "web_search"],
  ["web_fetch", "web_fetch"],
  ["retrieval", "retrieval"],
  ["file_search", "file_search"],
  ["collections_search", "file_search"],
  // xAI API, "Tools": over the files of a conversation.
  ["attachment_search", "file_search"],
  ["code_interpreter", "code_interpreter"],
  ["code_execution", "code_execution"],
  ["programmatic_tool_calling", "code_execution"],
  ["mcp_toolset", "mcp_servers"],
  ["mcp", null],
  ["image_generation", null],
  ["advisor", "models"],
];

/** Names of a tool's members that are read. */
export const TOOL_NAMES = knownNames(["type", "tools", "environment", "max_uses"]);

/** Returns the features of fields at the top of a request. An empty list and false use no feature. */
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
 * True when a reply is to have more than text and pictures. Vendors bill tokens of speech several times as high as those of
 * text (OpenAI and Gemini, prices of audio), and no price has a category for them.
 */
export function namesAudio(modalities: unknown): boolean {
  if (modalities === undefined || modalities === null) return false;
  const named: unknown[] = Array.isArray(modalities) ? modalities : [modalities];
  return named.some((each) => !SILENT_MODALITIES.has(String(each).toLowerCase()));
}

const SILENT_MODALITIES: ReadonlySet<string> = new Set(["text", "image"]);

/** The feature of a tool's type, undefined for one that runs at the caller. Relays name themselves: `name:web_search`. */
export function serverTool(type: unknown): Feature | null | undefined {
  if (typeof type !== "string") return undefined;
  const own = type.slice(type.lastIndexOf(":") + 1);
  return SERVER_TOOLS.find(([prefix]) => own.startsWith(prefix))?.[1];
}
