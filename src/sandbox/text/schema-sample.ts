import { flattenSchema, matchesType, typesOf, type FlatSchema, type SchemaWork } from "./schema-flat.ts";
import { sampleNumber, sampleString } from "./schema-scalar.ts";

const MAX_STEPS = 20_000;
const MAX_DEPTH = 24;
const MAX_ITEMS = 256;
/** Entries of `enum` and `examples` that are considered. */
const MAX_GIVEN = 64;
const CHARACTERS_PER_STEP = 8;

/** Where in the value the sampler is. */
interface Position {
  depth: number;
  /** References followed on the way here, so that a schema that contains itself ends. */
  references: readonly string[];
  /** Makes the items of one array different. */
  variation: number;
}

/**
 * Makes a value for a JSON Schema: required properties, the first branch that gives a value, the nearest value for
 * an unsatisfiable schema. Schemas come from callers: a counted number of steps bounds time and size of the result.
 */
export function sampleSchema(schema: unknown, topic: string): unknown {
  const work: SchemaWork = { root: schema, topic, steps: MAX_STEPS };
  const value = sample([schema], [], { depth: 0, references: [], variation: 0 }, work);
  return value === undefined ? {} : value;
}

/** Undefined when no value was found. `chosen` are the lists of branches of which one is among `schemas`. */
function sample(
  schemas: readonly unknown[],
  chosen: readonly unknown[],
  position: Position,
  work: SchemaWork,
): unknown {
  const flat = position.depth > MAX_DEPTH ? null : flattenSchema(schemas, position.references, work);
  if (!flat) return undefined;
  const branches = flat.branches.find((list) => !chosen.includes(list));
  if (!branches) return sampleFlat(flat, position, work);
  for (const branch of branches) {
    const value = sample([...schemas, branch], [...chosen, branches], position, work);
    if (value !== undefined) return value;
  }
  return undefined;
}

function sampleFlat(flat: FlatSchema, position: Position, work: SchemaWork): unknown {
  const { keywords } = flat;
  const given = sampleGiven(keywords, position.variation);
  const value = given === undefined ? sampleType(flat, position, work) : given;
  const isContainer = typeof value === "object" && given === undefined;
  if (!isContainer) work.steps -= (JSON.stringify(value) ?? "").length / CHARACTERS_PER_STEP;
  return work.steps > 0 ? value : undefined;
}

/** A value the schema names itself: its constant, a choice, its default or an example. */
function sampleGiven(keywords: Record<string, unknown>, variation: number): unknown {
  if (Object.hasOwn(keywords, "const")) return keywords["const"];
  const { enum: choices, default: usual, examples } = keywords;
  const isEnum = Array.isArray(choices) && choices.length > 0;
  const listed: unknown[] = isEnum ? choices : [usual, ...(Array.isArray(examples) ? examples : [])];
  const fitting = listed
    .slice(0, MAX_GIVEN)
    .filter((value) => value !== undefined && matchesType(value, keywords["type"]));
  return isEnum ? (fitting[variation % Math.max(1, fitting.length)] ?? choices[0]) : fitting[variation];
}

function sampleType(flat: FlatSchema, position: Position, work: SchemaWork): unknown {
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

/** The first type but null, or what the keywords imply. */
function typeOf({ keywords, properties, required, items }: FlatSchema): string {
  const types = typesOf(keywords["type"]);
  const type = types.find((name) => name !== "null") ?? types[0];
  if (type !== undefined) return type;
  const has = (...names: string[]) => names.some((name) => Object.hasOwn(keywords, name));
  if (properties.size > 0 || required.size > 0 || has("additionalProperties", "minProperties"))
    return "object";
  if (items.length > 0 || has("prefixItems", "minItems")) return "array";
  const isNumber = has("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf");
  return isNumber ? "number" : "string";
}

/** The required properties, or all of them when none is required. */
function sampleObject(flat: FlatSchema, position: Position, work: SchemaWork): unknown {
  const { keywords, properties, required } = flat;
  const inner = { depth: position.depth + 1, references: flat.references, variation: 0 };
  const added = [keywords["additionalProperties"] ?? true];
  const min = Math.min(Number(keywords["minProperties"]) || 0, MAX_ITEMS);
  const max = Math.min(Number(keywords["maxProperties"] ?? MAX_ITEMS), MAX_ITEMS);
  const wanted = required.size === 0 ? max : Math.min(min, max);
  const value = new Map<string, unknown>();
  for (const name of new Set([...required, ...properties.keys()])) {
    if (!required.has(name) && value.size >= wanted) continue;
    const property = sample(properties.get(name) ?? added, [], inner, work);
    if (property !== undefined) value.set(name, property);
    else if (required.has(name)) return undefined;
  }
  for (let index = 1; value.size < min && index <= MAX_ITEMS; index += 1)
    value.set(`extra${index}`, sample(added, [], inner, work) ?? null);
  return Object.fromEntries(value);
}

/** As many items as must be, at least one where there may be one. */
function sampleArray(flat: FlatSchema, position: Position, work: SchemaWork): unknown {
  const { prefixItems, minItems, maxItems } = flat.keywords;
  const first: unknown[] = Array.isArray(prefixItems) ? prefixItems : [];
  const min = Number(minItems) || 0;
  if (min > MAX_ITEMS) return undefined;
  const count = Math.min(Math.max(min, first.length, 1), Number(maxItems ?? MAX_ITEMS), MAX_ITEMS);
  const items: unknown[] = [];
  for (let index = 0; index < count; index += 1) {
    const inner = { depth: position.depth + 1, references: flat.references, variation: index };
    const item = sample(index < first.length ? [first[index]] : flat.items, [], inner, work);
    if (item === undefined) return items.length >= min ? items : undefined;
    items.push(item);
  }
  return items;
}
