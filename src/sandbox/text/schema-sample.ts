import { isObject } from "../../lib/json.ts";
import { sampleNumber, sampleString } from "./schema-scalar.ts";

const MAX_STEPS = 20_000;
const MAX_DEPTH = 24;
const MAX_ITEMS = 256;
/** Maximum number of values from `enum` or `examples` that are tried. */
const MAX_GIVEN = 64;
/** Maximum number of times that the same reference may be followed on the way to one position. */
const MAX_SAME_REFERENCE = 2;
const CHARACTERS_PER_STEP = 8;

/** The whole schema, with the number of steps that are left. */
interface Work {
  root: unknown;
  /** The word with which generated texts are filled. */
  topic: string;
  /**
   * Remaining steps. Each keyword that is read and each character that is made costs steps. At 0 nothing more is made.
   */
  steps: number;
}

/** A position inside the value. */
interface Position {
  depth: number;
  /** References that were followed to this position. Their number limits recursive schemas. */
  references: readonly string[];
  /** A number that is different for each item of an array, so that the items differ. */
  variation: number;
}

/**
 * Several schemas merged into one, including the schemas that references and `allOf` name. If two schemas contain the
 * same keyword, `keywords` has the value of the later schema. The other fields collect the values of all schemas.
 */
interface FlatSchema {
  keywords: Record<string, unknown>;
  /** The schemas of each property. The property's value must match all of them. */
  properties: Map<string, unknown[]>;
  required: Set<string>;
  /** The lists of all `anyOf` and `oneOf`. The value must match one schema of each list. */
  branches: unknown[][];
  references: string[];
}

/**
 * Makes a value that matches a JSON Schema. Makes only the required properties, or all if none is required. Uses the
 * first branch that leads to a value. Returns `{}` when no value is found. Callers write the schemas, so a maximum
 * number of steps limits the time and the size of the result.
 */
export function sampleSchema(schema: unknown, topic: string): unknown {
  const work: Work = { root: schema, topic, steps: MAX_STEPS };
  const value = sample([schema], { depth: 0, references: [], variation: 0 }, work);
  return value === undefined ? {} : value;
}

/**
 * Returns a value that matches all of the schemas; undefined when no such value is found. `chosen` are the lists of
 * branches from which a branch was already added to `schemas`.
 */
function sample(
  schemas: readonly unknown[],
  position: Position,
  work: Work,
  chosen: readonly unknown[] = [],
): unknown {
  const flat: FlatSchema = {
    // Without a prototype, a keyword named `__proto__` is stored like any other keyword.
    keywords: Object.create(null),
    properties: new Map(),
    required: new Set(),
    branches: [],
    references: [...position.references],
  };
  if (position.depth > MAX_DEPTH || !schemas.every((schema) => add(schema, flat, work, 0))) return undefined;
  const branches = flat.branches.find((list) => !chosen.includes(list));
  if (!branches) return sampleFlat(flat, position, work);
  for (const branch of branches) {
    const value = sample([...schemas, branch], position, work, [...chosen, branches]);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Merges a schema into `flat`. Returns false when no value can match, references are endless or no steps are left. */
function add(schema: unknown, flat: FlatSchema, work: Work, nesting: number): boolean {
  work.steps -= 1;
  if (schema === false || nesting > MAX_DEPTH || work.steps <= 0) return false;
  if (!isObject(schema)) return true;
  const { $ref: reference, allOf } = schema;
  if (typeof reference === "string") {
    flat.references.push(reference);
    if (flat.references.filter((name) => name === reference).length > MAX_SAME_REFERENCE) return false;
    if (!add(resolveReference(reference, work), flat, work, nesting + 1)) return false;
  }
  if (Array.isArray(allOf) && !allOf.every((part) => add(part, flat, work, nesting + 1))) return false;
  return Object.keys(schema).every((keyword) => addKeyword(keyword, schema[keyword], flat, work));
}

function addKeyword(keyword: string, value: unknown, flat: FlatSchema, work: Work): boolean {
  work.steps -= 1;
  if (keyword === "properties" && isObject(value)) {
    for (const [name, schema] of Object.entries(value)) {
      work.steps -= 1;
      flat.properties.getOrInsertComputed(name, () => []).push(schema);
    }
  } else if (keyword === "required" && Array.isArray(value)) {
    for (const name of value) if (typeof name === "string") flat.required.add(name);
    work.steps -= value.length;
  } else if ((keyword === "anyOf" || keyword === "oneOf") && Array.isArray(value) && value.length > 0)
    flat.branches.push(value);
  else flat.keywords[keyword] = value;
  return work.steps > 0;
}

/** Returns the target of a local reference (`#` or `#/$defs/name`). Undefined when there is no target. */
function resolveReference(reference: string, work: Work): unknown {
  work.steps -= reference.length;
  if (!reference.startsWith("#")) return undefined;
  let target: unknown = work.root;
  for (const part of reference.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof target !== "object" || target === null || !Object.hasOwn(target, name)) return undefined;
    target = Reflect.get(target, name);
  }
  return target;
}

function sampleFlat(flat: FlatSchema, position: Position, work: Work): unknown {
  const given = sampleGiven(flat.keywords, position.variation);
  const value = given === undefined ? sampleType(flat, position, work) : given;
  const isContainer = typeof value === "object" && given === undefined;
  if (!isContainer) work.steps -= (JSON.stringify(value) ?? "").length / CHARACTERS_PER_STEP;
  return work.steps > 0 ? value : undefined;
}

/** Returns a value from the schema itself: its `const`, or a value of `enum`, `default` or `examples`. */
function sampleGiven(keywords: Record<string, unknown>, variation: number): unknown {
  if (Object.hasOwn(keywords, "const")) return keywords["const"];
  const { enum: choices, default: usual, examples } = keywords;
  const isEnum = Array.isArray(choices) && choices.length > 0;
  const listed: unknown[] = isEnum ? choices : [usual, ...(Array.isArray(examples) ? examples : [])];
  const types = [keywords["type"] ?? []].flat();
  const fitting = listed
    .slice(0, MAX_GIVEN)
    .filter(
      (value) => value !== undefined && (types.length === 0 || types.some((type) => isOfType(value, type))),
    );
  return isEnum ? (fitting[variation % Math.max(1, fitting.length)] ?? choices[0]) : fitting[variation];
}

function isOfType(value: unknown, type: unknown): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    case "integer":
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

function sampleType(flat: FlatSchema, position: Position, work: Work): unknown {
  switch (typeOf(flat)) {
    case "object":
      return sampleObject(flat, position, work);
    case "array":
      return sampleArray(flat, position, work);
    case "integer":
    case "number":
      return sampleNumber(flat.keywords, position.variation);
    case "boolean":
      return position.variation % 2 === 0;
    case "null":
      return null;
    default:
      return sampleString(flat.keywords, work.topic, position.variation);
  }
}

/** Returns the first type other than null. Without a type, returns the type that the keywords suggest. */
function typeOf({ keywords, properties, required }: FlatSchema): unknown {
  const types = [keywords["type"] ?? []].flat();
  const type = types.find((name) => name !== "null") ?? types[0];
  if (type !== undefined) return type;
  const has = (...names: string[]) => names.some((name) => Object.hasOwn(keywords, name));
  if (properties.size > 0 || required.size > 0 || has("additionalProperties")) return "object";
  if (has("items", "prefixItems", "minItems")) return "array";
  const isNumber = has("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf");
  return isNumber ? "number" : "string";
}

/** Makes an object with the required properties. Makes all properties when none is required. */
function sampleObject(flat: FlatSchema, position: Position, work: Work): unknown {
  const inner = { depth: position.depth + 1, references: flat.references, variation: 0 };
  const names = flat.required.size > 0 ? flat.required : flat.properties.keys();
  const value = new Map<string, unknown>();
  for (const name of names) {
    const schemas = flat.properties.get(name) ?? [flat.keywords["additionalProperties"] ?? true];
    const property = sample(schemas, inner, work);
    if (property !== undefined) value.set(name, property);
    else if (flat.required.has(name)) return undefined;
  }
  return Object.fromEntries(value);
}

/**
 * Makes an array with the minimum number of items, but with an item for each of `prefixItems`, and at least one item if
 * the schema allows it. Undefined when no such array can be made.
 */
function sampleArray({ keywords, references }: FlatSchema, position: Position, work: Work): unknown {
  const { prefixItems, items, minItems, maxItems } = keywords;
  const first: unknown[] = Array.isArray(prefixItems) ? prefixItems : [];
  const min = Number(minItems) || 0;
  if (min > MAX_ITEMS) return undefined;
  const count = Math.min(Math.max(min, first.length, 1), Number(maxItems ?? MAX_ITEMS), MAX_ITEMS);
  const value: unknown[] = [];
  for (let variation = 0; variation < count; variation += 1) {
    const inner = { depth: position.depth + 1, references, variation };
    const item = sample([variation < first.length ? first[variation] : items], inner, work);
    if (item === undefined) return value.length >= min ? value : undefined;
    value.push(item);
  }
  return value;
}
