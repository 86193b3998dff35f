import { isObject } from "../../lib/json.ts";

/** A tool as the caller names it. */
interface NamedTool {
  namespace: string | null;
  name: string;
}

/** The longest name of a function (OpenAI reference). */
const MAX_NAME = 64;
const HASH_LENGTH = 8;

/**
 * The names of tools in namespaces for vendors that have none: `namespace__name`, shortened where that is too long,
 * and back.
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

  /** The caller's own names for a tool that a vendor calls. */
  split(name: string): NamedTool {
    return this.#tools.get(name) ?? { namespace: null, name };
  }
}

/** The one name of a tool for vendors without namespaces. */
export function flatName({ namespace, name }: NamedTool): string {
  if (namespace === null) return name;
  const joined = `${namespace}__${name}`;
  if (joined.length <= MAX_NAME) return joined;
  const hash = Bun.hash(joined).toString(16).padStart(16, "0").slice(-HASH_LENGTH);
  return `${joined.slice(0, MAX_NAME - HASH_LENGTH - 1)}_${hash}`;
}

/** The lists of tools of a request: its field, and items that bring more of them. */
export function* toolLists({
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
