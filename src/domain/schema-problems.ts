import { z, type ZodType } from "zod";
import { meantBy } from "../lib/suggest.ts";
import {
  operatorMessage,
  type Figures,
  type FiguresOf,
  type MessageCode,
  type OperatorMessage,
} from "./operator-message.ts";

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
  noun?: Noun;
  /** Words that people may use for a key: `api_key` for `credential`. */
  synonyms?: Readonly<Record<string, string>>;
}

type Noun = MessageCode extends infer Code ? (Code extends `noun.${infer Name}` ? Name : never) : never;

export interface Problem {
  /** The path, such as `channels.openai.base_url`; empty for the whole input. */
  path: string;
  /** Words that follow the path, in most cases the change to make: `must be a number, not text`. */
  message: string;
  /** Code and figures of the message; absent for a problem that only a configuration file can have. */
  code?: MessageCode;
  figures?: Figures;
}

/** A problem without its path. */
export type Words = Omit<Problem, "path">;

/** Returns the problem with these words at a path. A text has no code. */
export function problemAt(path: string, words: Words | string): Problem {
  return typeof words === "string" ? { path, message: words } : { ...words, path };
}

/**
 * Returns the `error` of a schema or of a refinement: the sentence with this code, which the problem then has, too. A
 * function chooses the code by the input.
 */
export function inputError<Code extends MessageCode>(
  code: Code | ((input: unknown) => Code),
  figures: FiguresOf<Code>,
): InputError {
  const error = (issue: z.core.$ZodRawIssue): string =>
    attach(issue, operatorMessage(typeof code === "function" ? code(issue.input) : code, figures));
  return Object.assign(error, { hasCode: true } as const);
}

/** An `error` with a code. */
export interface InputError {
  (issue: z.core.$ZodRawIssue): string;
  readonly hasCode: true;
}

/** Returns the issue that a refinement adds at a path. */
export function inputIssue(path: PropertyKey[], { message, code, figures }: OperatorMessage) {
  return { code: "custom", path, message, params: { code, figures } } as const;
}

/**
 * Attaches code and figures to an issue, and returns the sentence. Zod copies `params` from the raw issue into the issue
 * that it reports.
 */
function attach(issue: z.core.$ZodRawIssue, { message, ...params }: Words): string {
  Object.assign(issue, { params });
  return message;
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
  if (issue.code !== "unrecognized_keys") return [problemAt(formatPath(issue.path), wordsOf(issue))];
  const candidates = keysAt(known, issue.path);
  const { noun = "field", synonyms = {} } = options;
  return issue.keys.slice(0, MAX_PROBLEMS).map((key) => {
    const synonym = synonyms[key];
    const isKnown = synonym !== undefined && candidates.includes(synonym);
    const suggestion = isKnown ? { meant: synonym } : meantBy(key, candidates);
    const words = operatorMessage("input.unknown", { noun, ...suggestion });
    return problemAt(formatPath([...issue.path, key]), words);
  });
}

/** Returns the words of an issue, with the code that `attach` has given to it. */
function wordsOf({ message, params }: z.core.$ZodIssue & { params?: unknown }): Words {
  return { message, ...Object(params) };
}

function wordIssue(issue: z.core.$ZodRawIssue): string | undefined {
  const words = sentenceOf(issue);
  return words && attach(issue, words);
}

/** Returns the words of an issue whose schema has no `error`; undefined for a kind of issue that needs one. */
function sentenceOf(issue: z.core.$ZodRawIssue): Words | undefined {
  switch (issue.code) {
    case "invalid_type": {
      const { expected, input } = issue;
      if (input === undefined) return operatorMessage("input.missing", { expected });
      return operatorMessage("input.type", { expected, received: kindOf(input) });
    }
    case "invalid_value":
      return operatorMessage("input.values", { values: listed(issue.values) });
    case "invalid_union":
      return Array.isArray(issue["options"])
        ? operatorMessage("input.values", { values: listed(issue["options"]) })
        : undefined;
    case "too_small":
      return boundary("least", issue.origin, issue.minimum);
    case "too_big":
      return boundary("most", issue.origin, issue.maximum);
    case "invalid_key":
      return issue.issues[0] && wordsOf(issue.issues[0]);
    default:
      return undefined;
  }
}

/** Returns values as the figure of a sentence, which joins them by its language's word for `or`. */
export function listed(values: readonly unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join(", ");
}

function kindOf(value: unknown): string {
  if (value === null) return "empty";
  if (Array.isArray(value)) return "array";
  return typeof value === "number" && !Number.isInteger(value) ? "fraction" : typeof value;
}

function boundary(end: "least" | "most", origin: string, limit: number | bigint): OperatorMessage {
  const count = Number(limit);
  if (origin === "string") return operatorMessage(`input.${end}.characters`, { count });
  if (origin === "array" || origin === "map") return operatorMessage(`input.${end}.entries`, { count });
  return operatorMessage(`input.${end}`, { limit: count });
}
