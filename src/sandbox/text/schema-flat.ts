import { isObject } from "../../lib/json.ts";

/** A JSON Schema document, and how much work may still be spent on it. */
export interface SchemaWork {
  root: unknown;
  /** A word that free text is made of. */
  topic: string;
  /** Counts down with every keyword read and every character made; nothing is made at 0. */
  steps: number;
}

/** Several schemas as one: no references and no `allOf`. */
export interface FlatSchema {
  /** The keywords without a field of their own below. */
  keywords: Record<string, unknown>;
  /** The schemas that each property must fit. */
  properties: Map<string, unknown[]>;
  required: Set<string>;
  items: unknown[];
  /** Lists of `anyOf` and `oneOf`: one entry of each must fit. */
  branches: unknown[][];
  references: readonly string[];
}

const MAX_NESTING = 24;
const MAX_TYPES = 8;
/** How often a value may contain what the same reference points at. */
const MAX_SAME_REFERENCE = 2;

/**
 * Merges schemas, what they refer to and their `allOf`. A keyword that cannot be merged keeps its first value.
 * Returns null where nothing fits, references do not end, or the work is used up.
 */
export function flattenSchema(
  schemas: readonly unknown[],
  references: readonly string[],
  work: SchemaWork,
): FlatSchema | null {
  const flat: FlatSchema = {
    // Without a prototype a keyword named `__proto__` is one like any other.
    keywords: Object.create(null),
    properties: new Map(),
    required: new Set(),
    items: [],
    branches: [],
    references,
  };
  return schemas.every((schema) => add(schema, flat, work, 0)) ? flat : null;
}

/** The names in `type`, which is one or a list. */
export function typesOf(type: unknown): string[] {
  return [type]
    .flat()
    .slice(0, MAX_TYPES)
    .filter((name) => typeof name === "string");
}

export function matchesType(value: unknown, type: unknown): boolean {
  const types = typesOf(type);
  return types.length === 0 || types.some((name) => isOfType(value, name));
}

function isOfType(value: unknown, type: string): boolean {
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

function add(schema: unknown, flat: FlatSchema, work: SchemaWork, nesting: number): boolean {
  work.steps -= 1;
  if (schema === false || nesting > MAX_NESTING || work.steps <= 0) return false;
  if (!isObject(schema)) return true;
  for (const keyword of Object.keys(schema)) {
    work.steps -= 1;
    if (work.steps <= 0) return false;
    const value = schema[keyword];
    if (keyword === "$ref" && !addReference(value, flat, work, nesting)) return false;
    if (keyword === "allOf" && Array.isArray(value)) {
      if (!value.every((part) => add(part, flat, work, nesting + 1))) return false;
    } else addKeyword(keyword, value, flat, work);
  }
  return true;
}

function addReference(reference: unknown, flat: FlatSchema, work: SchemaWork, nesting: number): boolean {
  if (typeof reference !== "string") return true;
  work.steps -= reference.length;
  flat.references = [...flat.references, reference];
  if (flat.references.filter((name) => name === reference).length > MAX_SAME_REFERENCE) return false;
  return add(resolveReference(reference, work.root), flat, work, nesting + 1);
}

function addKeyword(keyword: string, value: unknown, flat: FlatSchema, work: SchemaWork): void {
  const { keywords } = flat;
  switch (keyword) {
    case "properties":
      for (const [name, schema] of isObject(value) ? Object.entries(value) : []) {
        work.steps -= 1;
        flat.properties.getOrInsertComputed(name, () => []).push(schema);
      }
      return;
    case "required":
      for (const name of Array.isArray(value) ? value : []) {
        work.steps -= 1;
        if (typeof name === "string") flat.required.add(name);
      }
      return;
    case "items":
      flat.items.push(value);
      return;
    case "anyOf":
    case "oneOf":
      if (Array.isArray(value) && value.length > 0) flat.branches.push(value);
      return;
    case "type":
      keywords[keyword] = commonTypes(keywords[keyword], value);
      return;
    default:
      keywords[keyword] = stricter(keyword, keywords[keyword], value);
  }
}

function stricter(keyword: string, first: unknown, second: unknown): unknown {
  if (typeof first !== "number" || typeof second !== "number") return first ?? second;
  if (/^(?:exclusiveM|m)in/.test(keyword)) return Math.max(first, second);
  return /^(?:exclusiveM|m)ax/.test(keyword) ? Math.min(first, second) : first;
}

/** The types in both, or the first ones where there is none; an integer is also a number. */
function commonTypes(first: unknown, second: unknown): unknown {
  if (first === undefined) return second;
  const [ones, others] = [typesOf(first), typesOf(second)];
  const both = ones.filter((type) => others.includes(type));
  const isInteger = [...ones, ...others].includes("integer") && [...ones, ...others].includes("number");
  if (both.length === 0 && isInteger) return ["integer"];
  return both.length === 0 ? first : both;
}

/** What a local reference (`#`, `#/$defs/name`) points at; undefined when it points nowhere. */
function resolveReference(reference: string, root: unknown): unknown {
  if (!reference.startsWith("#")) return undefined;
  let target: unknown = root;
  for (const part of reference.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof target !== "object" || target === null || !Object.hasOwn(target, name)) return undefined;
    target = Reflect.get(target, name);
  }
  return target;
}
