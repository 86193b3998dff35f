import { isObject } from "../../lib/json.ts";
import { createScope, fits, resolveReference, type SchemaScope } from "./schema-fit.ts";
import { mergeSchemas } from "./schema-merge.ts";
import { sampleNumber, sampleString } from "./schema-scalar.ts";

const MAX_DEPTH = 24;
const MAX_ITEMS = 256;

/** Where sampling stands in a schema. */
interface SampleContext {
  scope: SchemaScope;
  /** A word that free text is made of. */
  topic: string;
  depth: number;
  /** References being followed, so that a schema that contains itself ends. */
  references: readonly string[];
  /** Tells the items of one array apart. */
  variation: number;
}

/**
 * Makes a value that fits a JSON Schema, the first it finds. Unsatisfiable schemas, and patterns, get the nearest
 * there is. Work is bounded however the schema is made.
 */
export function sampleSchema(schema: unknown, topic: string): unknown {
  const context = { scope: createScope(schema), topic, depth: 0, references: [], variation: 0 };
  const value = sample(schema, context);
  return value === undefined ? {} : value;
}

/** Undefined when no value was found. */
function sample(schema: unknown, context: SampleContext): unknown {
  const { scope } = context;
  if (schema === false) return undefined;
  if (!isObject(schema)) return context.topic;
  scope.steps -= 1;
  if (scope.steps <= 0 || context.depth > MAX_DEPTH) return undefined;
  const { $ref: reference, allOf, ...rest } = schema;
  const deeper = { ...context, depth: context.depth + 1 };
  if (typeof reference === "string") {
    if (context.references.filter((name) => name === reference).length > 1) return undefined;
    const target = resolveReference(reference, scope.root);
    const merged = mergeSchemas(allOf === undefined ? rest : { ...rest, allOf }, target);
    return sample(merged, { ...deeper, references: [...context.references, reference] });
  }
  if (Array.isArray(allOf)) return sample(mergeAll(rest, allOf, scope), deeper);
  const branches = Array.isArray(rest["anyOf"]) ? rest["anyOf"] : rest["oneOf"];
  if (Array.isArray(branches) && branches.length > 0) return sampleBranch(rest, branches, deeper);
  const given = sampleGiven(rest, context);
  return given === undefined ? sampleKind(rest, context) : given;
}

function mergeAll(base: unknown, branches: readonly unknown[], scope: SchemaScope): unknown {
  let merged = base;
  for (const branch of branches) {
    merged = mergeSchemas(merged, followReferences(branch, scope));
  }
  return merged;
}

/** A schema with what its reference points at in its place. */
function followReferences(schema: unknown, scope: SchemaScope): unknown {
  let followed = schema;
  for (let count = 0; count < MAX_DEPTH && isObject(followed) && followed["$ref"] !== undefined; count += 1) {
    const { $ref: reference, ...rest } = followed;
    followed = mergeSchemas(rest, resolveReference(reference, scope.root));
  }
  return followed;
}

/** The first branch whose value fits the whole schema; else the first that gives a value at all. */
function sampleBranch(
  schema: Record<string, unknown>,
  branches: readonly unknown[],
  context: SampleContext,
): unknown {
  const { anyOf: _any, oneOf: _one, ...rest } = schema;
  let nearest: unknown;
  for (const branch of branches) {
    const value = sample(mergeSchemas(rest, branch), context);
    if (value === undefined) continue;
    if (fits(value, schema, context.scope)) return value;
    nearest ??= value;
  }
  return nearest;
}

/** A value the schema names itself: its constant, a choice, its default or an example. */
function sampleGiven(schema: Record<string, unknown>, { scope, variation }: SampleContext): unknown {
  if (Object.hasOwn(schema, "const")) return schema["const"];
  const { enum: choices, default: usual, examples } = schema;
  if (Array.isArray(choices)) {
    const fitting = choices.filter((choice) => fits(choice, schema, scope));
    return fitting[variation % Math.max(1, fitting.length)] ?? choices[0];
  }
  const given = [usual, ...(Array.isArray(examples) ? examples : [])].filter((value) => value !== undefined);
  return given.filter((value) => fits(value, schema, scope))[variation];
}

function sampleKind(schema: Record<string, unknown>, context: SampleContext): unknown {
  switch (kindOf(schema)) {
    case "object":
      return sampleObject(schema, context);
    case "array":
      return sampleArray(schema, context);
    case "integer":
    case "number":
      return sampleNumber(schema, context.variation);
    case "boolean":
      return context.variation % 2 === 0;
    case "null":
      return null;
    default:
      return sampleString(schema, context.topic, context.variation);
  }
}

/** The first type but null, or what the keywords imply. */
function kindOf(schema: Record<string, unknown>): string {
  const types: unknown[] = [schema["type"]].flat();
  const type = types.find((name) => name !== "null") ?? types[0];
  if (typeof type === "string") return type;
  if (["properties", "required", "additionalProperties"].some((name) => Object.hasOwn(schema, name)))
    return "object";
  if (["items", "prefixItems", "minItems"].some((name) => Object.hasOwn(schema, name))) return "array";
  const bounds = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
  return bounds.some((name) => Object.hasOwn(schema, name)) ? "number" : "string";
}

/** The required properties, or all of them when none is required. */
function sampleObject(schema: Record<string, unknown>, context: SampleContext): unknown {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const listed = Array.isArray(schema["required"]) ? schema["required"] : [];
  const required = new Set(listed.filter((name) => typeof name === "string"));
  const min = Math.max(Number(schema["minProperties"]) || 0, required.size === 0 ? MAX_ITEMS : 0);
  const max = Number(schema["maxProperties"] ?? MAX_ITEMS);
  const value = new Map<string, unknown>();
  for (const name of new Set([...required, ...Object.keys(properties)])) {
    const isWanted = required.has(name) || (value.size < min && value.size < max);
    if (!isWanted) continue;
    const own = Object.hasOwn(properties, name) ? properties[name] : schema["additionalProperties"];
    const property = sample(own, { ...context, depth: context.depth + 1, variation: 0 });
    if (property !== undefined) value.set(name, property);
    else if (required.has(name)) return undefined;
  }
  const added = Math.min(Number(schema["minProperties"]) || 0, MAX_ITEMS);
  for (let index = 1; value.size < added; index += 1)
    value.set(
      `extra${index}`,
      sample(schema["additionalProperties"], { ...context, depth: context.depth + 1 }) ?? null,
    );
  return Object.fromEntries(value);
}

/** As many items as must be, at least one where there may be one. */
function sampleArray(schema: Record<string, unknown>, context: SampleContext): unknown {
  const first = Array.isArray(schema["prefixItems"]) ? schema["prefixItems"] : [];
  const min = Number(schema["minItems"]) || 0;
  if (min > MAX_ITEMS) return undefined;
  const max = Number(schema["maxItems"] ?? MAX_ITEMS);
  const count = Math.min(Math.max(min, first.length, 1), max);
  const items: unknown[] = [];
  for (let index = 0; index < count; index += 1) {
    const own = index < first.length ? first[index] : schema["items"];
    const item = sample(own, { ...context, depth: context.depth + 1, variation: index });
    if (item === undefined) return items.length >= min ? items : undefined;
    items.push(item);
  }
  return items;
}
