import { z, type ZodType } from "zod";
import { didYouMean } from "./suggest.ts";

/**
 * Checks input from people against a schema. Returns the parsed value, or up to a hundred problems. A problem never
 * contains the value, which may be a secret.
 */
export function readStrictly<Schema extends ZodType>(
  schema: Schema,
  input: unknown,
  options: ReadOptions = {},
): { value: z.output<Schema> } | { problems: Problem[] } {
  const result = schema.safeParse(input, { error: wordIssue });
  if (result.success) return { value: result.data };
  const known = schemaAsData(schema);
  const problems: Problem[] = [];
  for (const issue of result.error.issues) {
    if (problems.length >= MAX_PROBLEMS) break;
    problems.push(...problemsOf(issue, known, options));
  }
  return { problems: problems.slice(0, MAX_PROBLEMS) };
}

/** Maximum number of reported problems. Nobody reads more, and an input with many unknown fields must not take long. */
const MAX_PROBLEMS = 100;

interface ReadOptions {
  /** The word for a key in messages, such as `setting`; `field` when absent. */
  noun?: string;
  /** Words that people may use for a key: `api_key` for `credential`. */
  synonyms?: Readonly<Record<string, string>>;
}

export interface Problem {
  /** The path, such as `channels.openai.base_url`; empty for the whole input. */
  path: string;
  /** Words that follow the path, in most cases the change to make: `must be a number, not text`. */
  message: string;
}

/** Writes the path `["models", "gpt-4.1", "targets", 0]` as `models["gpt-4.1"].targets[0]`. */
export function formatPath(path: readonly PropertyKey[]): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else if (/^[\w-]+$/.test(String(part))) text += text === "" ? String(part) : `.${String(part)}`;
    else text += `[${JSON.stringify(String(part))}]`;
  }
  return text;
}

/** Returns the keys that a schema allows at a path. The path may go through optional parts, records and unions. */
export function knownKeys(schema: ZodType, path: readonly PropertyKey[] = []): string[] {
  return keysAt(schemaAsData(schema), path);
}

type SchemaData = z.core.JSONSchema.BaseSchema;

function schemaAsData(schema: ZodType): SchemaData {
  return z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
}

function keysAt(root: SchemaData, path: readonly PropertyKey[]): string[] {
  let nodes = alternatives(root);
  for (const part of path) nodes = nodes.flatMap((node) => childrenAt(node, part));
  return nodes.flatMap((node) => Object.keys(node.properties ?? {}));
}

function childrenAt(node: SchemaData, part: PropertyKey): SchemaData[] {
  const children = [node.properties?.[String(part)] ?? node.additionalProperties, node.items].flat();
  return children.filter((child) => typeof child === "object").flatMap(alternatives);
}

function alternatives(node: SchemaData): SchemaData[] {
  const inner = [...(node.anyOf ?? []), ...(node.allOf ?? [])].filter((child) => typeof child === "object");
  return [node, ...inner.flatMap(alternatives)];
}

function problemsOf(issue: z.core.$ZodIssue, known: SchemaData, options: ReadOptions): Problem[] {
  if (issue.code !== "unrecognized_keys") return [{ path: formatPath(issue.path), message: issue.message }];
  const candidates = keysAt(known, issue.path);
  return issue.keys.slice(0, MAX_PROBLEMS).map((key) => {
    const meant = options.synonyms?.[key];
    const suggestion =
      meant !== undefined && candidates.includes(meant)
        ? `; did you mean "${meant}"?`
        : didYouMean(key, candidates);
    return {
      path: formatPath([...issue.path, key]),
      message: `is not a known ${options.noun ?? "field"}${suggestion}`,
    };
  });
}

function wordIssue(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type": {
      const expected = KINDS[issue.expected] ?? issue.expected;
      if (issue.input === undefined) return `is missing: it must be ${expected}`;
      return `must be ${expected}, not ${kindOf(issue.input)}`;
    }
    case "invalid_value":
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(" or ")}`;
    case "too_small":
      return `must ${boundary(issue.origin, "at least", "more than", issue.inclusive, issue.minimum)}`;
    case "too_big":
      return `must ${boundary(issue.origin, "at most", "less than", issue.inclusive, issue.maximum)}`;
    case "invalid_key":
      return issue.issues[0]?.message;
    default:
      return undefined;
  }
}

const KINDS: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a mapping",
  record: "a mapping",
};

function kindOf(value: unknown): string {
  if (value === null) return "empty";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "number") return Number.isInteger(value) ? "a number" : "a fraction";
  return KINDS[typeof value] ?? typeof value;
}

function boundary(
  origin: string,
  inclusiveWord: string,
  exclusiveWord: string,
  isInclusive: boolean | undefined,
  limit: number | bigint,
): string {
  const amount = `${isInclusive === false ? exclusiveWord : inclusiveWord} ${limit}`;
  if (origin === "string") return `have ${amount} ${limit === 1 ? "character" : "characters"}`;
  if (origin === "array" || origin === "map") return `have ${amount} ${limit === 1 ? "entry" : "entries"}`;
  return `be ${amount}`;
}
