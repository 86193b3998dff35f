import { isObject } from "../../lib/json.ts";
import type { Tool, ToolChoice } from "../conversation/request.ts";
import { untranslatable } from "../conversation/untranslatable.ts";
import { flatName, toolLists } from "./tool-names.ts";

type Body = Readonly<Record<string, unknown>>;

/** Reads the tools of a request, those of namespaces under one name each. */
export function readTools(body: Body): Tool[] {
  const read: Tool[] = [];
  for (const { path, tools } of toolLists(body))
    tools.forEach((tool, index) => read.push(...readTool(tool, `${path}[${index}]`)));
  return read;
}

function readTool(tool: unknown, path: string): Tool[] {
  if (!isObject(tool)) throw untranslatable(path);
  if (tool["type"] !== "namespace") return [readNamed(tool, path, null)];
  const { name, description, tools } = tool;
  const read: Tool[] = [];
  if (!Array.isArray(tools)) return read;
  for (let index = 0; index < tools.length; index += 1) {
    const inner: unknown = tools[index];
    const innerPath = `${path}.tools[${index}]`;
    if (!isObject(inner)) throw untranslatable(innerPath);
    const { description: own, ...named } = readNamed(inner, innerPath, String(name));
    const texts = [description, own].filter((text) => typeof text === "string" && text !== "");
    read.push({ ...named, description: texts.length === 0 ? null : texts.join("\n") });
  }
  return read;
}

function readNamed(tool: Body, path: string, namespace: string | null): Tool {
  const { type, name, description, parameters, strict, format } = tool;
  if (type !== "function" && type !== "custom") throw untranslatable(`${path}.type`);
  return {
    kind: type,
    name: flatName({ namespace, name: String(name) }),
    description: typeof description === "string" ? description : null,
    parameters: isObject(parameters) ? parameters : null,
    strict: typeof strict === "boolean" ? strict : null,
    ...(isObject(format) && format["type"] !== "text" && { format }),
  };
}

/** Reads `tool_choice`. Tools that run at the vendor cannot be chosen. */
export function readToolChoice(value: unknown): ToolChoice | null {
  if (value === undefined || value === null) return null;
  if (value === "auto" || value === "none" || value === "required") return { type: value };
  if (!isObject(value)) throw untranslatable("tool_choice");
  if (value["type"] !== "allowed_tools") return { type: "tool", name: nameOf(value, "tool_choice") };
  const tools: readonly unknown[] = Array.isArray(value["tools"]) ? value["tools"] : [];
  return {
    type: "allowed",
    mode: value["mode"] === "required" ? "required" : "auto",
    names: tools.map((tool, index) => nameOf(tool, `tool_choice.tools[${index}]`)),
  };
}

function nameOf(tool: unknown, path: string): string {
  const { type, name, namespace } = isObject(tool) ? tool : {};
  if ((type !== "function" && type !== "custom") || typeof name !== "string")
    throw untranslatable(`${path}.type`);
  return flatName({ namespace: typeof namespace === "string" ? namespace : null, name });
}
