import { isObject } from "../../lib/json.ts";
import type { Conversation, Tool, ToolChoice } from "../conversation/request.ts";
import { untranslatable } from "../conversation/untranslatable.ts";
import { cacheOf, writeCache } from "./content.ts";

/**
 * Reads the tools of a request. Throws for a tool whose type is not `custom`, because only this protocol has such
 * tools.
 */
export function readTools(tools: unknown): Tool[] {
  if (!Array.isArray(tools)) return [];
  return tools.filter(isObject).map(readTool);
}

function readTool(tool: Record<string, unknown>, index: number): Tool {
  const { type, name, description, input_schema: schema, strict } = tool;
  if ((type ?? "custom") !== "custom") throw untranslatable(`tools[${index}].type`);
  return {
    kind: "function",
    name: String(name),
    description: typeof description === "string" ? description : null,
    parameters: isObject(schema) ? schema : null,
    strict: typeof strict === "boolean" ? strict : null,
    ...cacheOf(tool),
  };
}

/** Reads the tool choice and the permission of parallel calls. */
export function readToolChoice(choice: unknown): Pick<Conversation, "toolChoice" | "parallelCalls"> {
  if (!isObject(choice)) return { toolChoice: null, parallelCalls: null };
  const { type, name, disable_parallel_tool_use: isSingle } = choice;
  const parallelCalls = typeof isSingle === "boolean" ? !isSingle : null;
  return { toolChoice: toolChoiceOf(type, name), parallelCalls };
}

function toolChoiceOf(type: unknown, name: unknown): ToolChoice {
  if (type === "any") return { type: "required" };
  if (type === "tool") return { type: "tool", name: String(name) };
  if (type === "auto" || type === "none") return { type };
  throw untranslatable("tool_choice.type");
}

/** Returns the tool fields of a request; no fields when there are no tools. */
export function writeTools(conversation: Conversation): Record<string, unknown> {
  const { tools, toolChoice, parallelCalls, params } = conversation;
  const names = toolChoice?.type === "allowed" ? new Set(toolChoice.names) : null;
  const offered = names ? tools.filter(({ name }) => names.has(name)) : tools;
  if (offered.length === 0) return {};
  if (offered.some(({ kind }) => kind === "custom")) throw untranslatable(params.tools ?? "tools");
  return {
    tools: offered.map(writeTool),
    tool_choice: writeToolChoice(toolChoice, parallelCalls),
  };
}

/** Writes a tool without `strict`. Vendors support different schemas for strict tools and refuse all other schemas. */
function writeTool(tool: Tool): Record<string, unknown> {
  const { name, description, parameters } = tool;
  return {
    name,
    description: description ?? undefined,
    input_schema: { type: "object", ...(parameters ?? { properties: {} }) },
    ...writeCache(tool),
  };
}

function writeToolChoice(
  choice: ToolChoice | null,
  parallelCalls: boolean | null,
): Record<string, unknown> | undefined {
  const isSingle = parallelCalls === null ? {} : { disable_parallel_tool_use: !parallelCalls };
  switch (choice?.type) {
    case undefined:
      return parallelCalls === null ? undefined : { type: "auto", ...isSingle };
    case "auto":
      return { type: "auto", ...isSingle };
    case "none":
      return { type: "none" };
    case "required":
      return { type: "any", ...isSingle };
    case "tool":
      return { type: "tool", name: choice.name, ...isSingle };
    case "allowed":
      return { type: choice.mode === "required" ? "any" : "auto", ...isSingle };
  }
}

/** Matches ids of tool calls that the protocol accepts (Anthropic API, "Tool use"). */
const USABLE = /^[a-zA-Z0-9_-]+$/;
const CARRIED = "gw_id_";

/** Returns a tool call's id in characters that the protocol accepts. Equal invalid ids are encoded equally. */
export function writeCallId(id: string): string {
  return USABLE.test(id) && !id.startsWith(CARRIED) ? id : CARRIED + Buffer.from(id).toString("base64url");
}

/** Decodes an id that `writeCallId` has encoded. */
export function readCallId(id: string): string {
  return id.startsWith(CARRIED) ? Buffer.from(id.slice(CARRIED.length), "base64url").toString() : id;
}
