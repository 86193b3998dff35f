import type { Feature, FeatureUse } from "../../domain/feature.ts";
import { isObject } from "../../lib/json.ts";
import { refuseCaseVariants } from "../field-names.ts";
import { fieldFeatures, serverTool, TOOL_NAMES } from "../vendor-features.ts";

/** The features that a request's fields and tools use, also tools that come as an item of the input. */
export function readFeatures(body: Record<string, unknown>): FeatureUse[] {
  const uses = fieldFeatures(body);
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
    refuseCaseVariants(tool, TOOL_NAMES, `${path}[${index}]`);
    const feature = toolFeature(tool);
    if (feature !== undefined) uses.push({ feature, param: `${path}[${index}].type` });
    readTools(tool["tools"], `${path}[${index}].tools`, uses);
  });
}

function toolFeature({ type, environment }: Record<string, unknown>): Feature | null | undefined {
  if (type === "shell") return isContainer(environment) ? "code_execution" : undefined;
  if (typeof type === "string" && type.startsWith("computer")) return "computer_use";
  return serverTool(type);
}

/** A shell runs at the caller unless it names a container (OpenAI shell tool guide). */
function isContainer(environment: unknown): boolean {
  return isObject(environment) && environment["type"] !== "local";
}
