import { isObject } from "../../lib/json.ts";
import type { Tool, ToolChoice } from "../conversation/request.ts";
import { untranslatable } from "../conversation/untranslatable.ts";

type Body = Readonly<Record<string, unknown>>;

/** Reads the tools of a request. The name of a tool in a namespace becomes one name with the namespace. */
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

/**
 * Reads `tool_choice`. Throws an `UpstreamError` for a value without a neutral form, such as a tool that runs at the
 * vendor.
 */
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

/** A tool with the caller's own names. */
interface NamedTool {
  namespace: string | null;
  name: string;
}

/** Maximum number of characters in the name of a function (OpenAI reference). */
const MAX_NAME = 64;
const HASH_LENGTH = 8;

/**
 * Returns the caller's names of tools in namespaces. Vendors without namespaces get a single name: `namespace__name`,
 * shortened if it is too long.
 */
export class ToolNames {
  readonly #tools = new Map<string, NamedTool>();

  constructor(body: Readonly<Record<string, unknown>>) {
    for (const { tools } of toolLists(body))
      for (const tool of tools) {
        const { type, name: namespace, tools: inner } = isObject(tool) ? tool : {};
        if (type !== "namespace" || typeof namespace !== "string" || !Array.isArray(inner)) continue;
        for (const each of inner) {
          const name: unknown = isObject(each) ? each["name"] : undefined;
          if (typeof name === "string") this.#tools.set(flatName({ namespace, name }), { namespace, name });
        }
      }
  }

  /** Returns the caller's names for a tool that a vendor calls. */
  split(name: string): NamedTool {
    return this.#tools.get(name) ?? { namespace: null, name };
  }
}

/** Returns the single name of a tool for vendors without namespaces. */
export function flatName({ namespace, name }: NamedTool): string {
  if (namespace === null) return name;
  const joined = `${namespace}__${name}`;
  if (joined.length <= MAX_NAME) return joined;
  const hash = Bun.hash(joined).toString(16).padStart(16, "0").slice(-HASH_LENGTH);
  return `${joined.slice(0, MAX_NAME - HASH_LENGTH - 1)}_${hash}`;
}

/** Yields the lists of tools in a request: the field `tools`, and items of the input with further tools. */
function* toolLists({
  tools,
  input,
}: Readonly<Record<string, unknown>>): Generator<{ path: string; tools: readonly unknown[] }> {
  if (Array.isArray(tools)) yield { path: "tools", tools };
  if (!Array.isArray(input)) return;
  for (let index = 0; index < input.length; index += 1) {
    const item: unknown = input[index];
    if (isObject(item) && item["type"] === "additional_tools" && Array.isArray(item["tools"]))
      yield { path: `input[${index}].tools`, tools: item["tools"] };
  }
}
