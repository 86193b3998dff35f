import { isStandardTier, type Feature, type FeatureUse } from "../../domain/feature.ts";
import { isObject } from "../../lib/json.ts";

/**
 * Tools that run at the vendor, by the beginning of their type, which may go on with a date (OpenAI responses
 * reference). Null is one that no model is offered with.
 */
const SERVER_TOOLS: readonly (readonly [string, Feature | null])[] = [
  ["web_search", "web_search"],
  ["x_search", "web_search"],
  ["file_search", "file_search"],
  ["collections_search", "file_search"],
  ["code_interpreter", "code_interpreter"],
  ["programmatic_tool_calling", "code_execution"],
  ["computer", "computer_use"],
  ["image_generation", null],
  ["mcp", null],
];

/** The features that a request's fields and tools use, also tools that come as an item of the input. */
export function readFeatures(body: Record<string, unknown>): FeatureUse[] {
  const uses: FeatureUse[] = [];
  if (!isStandardTier(body["service_tier"])) uses.push({ feature: "service_tier", param: "service_tier" });
  readTools(body["tools"], "tools", uses);
  const { input } = body;
  if (Array.isArray(input))
    input.forEach((item: unknown, index) => {
      if (isObject(item)) readTools(item["tools"], `input[${index}].tools`, uses);
    });
  return uses;
}

function readTools(tools: unknown, path: string, uses: FeatureUse[]): void {
  if (!Array.isArray(tools)) return;
  tools.forEach((tool: unknown, index) => {
    if (!isObject(tool)) return;
    const feature = serverTool(tool);
    if (feature !== undefined) uses.push({ feature, param: `${path}[${index}].type` });
    readTools(tool["tools"], `${path}[${index}].tools`, uses);
  });
}

function serverTool({ type, environment }: Record<string, unknown>): Feature | null | undefined {
  if (typeof type !== "string") return undefined;
  if (type === "shell") return isContainer(environment) ? "code_execution" : undefined;
  return SERVER_TOOLS.find(([prefix]) => type.startsWith(prefix))?.[1];
}

/** A shell runs at the caller unless it names a container (OpenAI shell tool guide). */
function isContainer(environment: unknown): boolean {
  return isObject(environment) && environment["type"] !== "local";
}
