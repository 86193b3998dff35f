import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../lib/json.ts";

/**
 * One schema that asks for what both ask for, as far as a plain merge can say it. Keywords without a rule of
 * their own keep the first schema's value.
 */
export function mergeSchemas(first: unknown, second: unknown): unknown {
  if (first === false || second === false) return false;
  if (!isObject(first)) return second;
  if (!isObject(second)) return first;
  const merged = { ...second, ...first };
  for (const [keyword, rule] of Object.entries(RULES)) {
    const [one, other] = [first[keyword], second[keyword]];
    if (one !== undefined && other !== undefined) merged[keyword] = rule(one, other);
  }
  return merged;
}

type Rule = (first: unknown, second: unknown) => unknown;

const larger: Rule = (first, second) => Math.max(Number(first), Number(second));
const smaller: Rule = (first, second) => Math.min(Number(first), Number(second));

const RULES: Readonly<Record<string, Rule>> = {
  minimum: larger,
  exclusiveMinimum: larger,
  minLength: larger,
  minItems: larger,
  minProperties: larger,
  maximum: smaller,
  exclusiveMaximum: smaller,
  maxLength: smaller,
  maxItems: smaller,
  maxProperties: smaller,
  items: mergeSchemas,
  additionalProperties: mergeSchemas,
  uniqueItems: (first, second) => first === true || second === true,
  required: (first, second) => [...new Set([...listOf(first), ...listOf(second)])],
  allOf: (first, second) => [...listOf(first), ...listOf(second)],
  enum: (first, second) =>
    listOf(first).filter((one) => listOf(second).some((other) => isDeepStrictEqual(one, other))),
  type: mergeTypes,
  properties: mergeProperties,
};

/** The types in both; an integer is also a number. */
function mergeTypes(first: unknown, second: unknown): unknown {
  const [ones, others] = [listOf(first), listOf(second)];
  const both = ones.flatMap((type) => {
    if (others.includes(type)) return [type];
    const isNarrowed =
      (type === "number" && others.includes("integer")) || (type === "integer" && others.includes("number"));
    return isNarrowed ? ["integer"] : [];
  });
  return both.length > 0 ? both : first;
}

function mergeProperties(first: unknown, second: unknown): unknown {
  const merged = new Map(isObject(second) ? Object.entries(second) : []);
  for (const [name, schema] of isObject(first) ? Object.entries(first) : [])
    merged.set(name, merged.has(name) ? mergeSchemas(schema, merged.get(name)) : schema);
  return Object.fromEntries(merged);
}

function listOf(value: unknown): unknown[] {
  return [value].flat();
}
