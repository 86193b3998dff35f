import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../lib/json.ts";

/** A JSON Schema document, and how much work may still be spent on it. Schemas come from callers. */
export interface SchemaScope {
  root: unknown;
  /** Steps left; counts down while sampling and checking. */
  steps: number;
}

/** A scope with a bounded amount of work. */
export function createScope(root: unknown): SchemaScope {
  return { root, steps: 20_000 };
}

/**
 * Whether a value satisfies a schema: the keywords of JSON Schema 2020-12 that tool definitions use. Regular
 * expressions are never run, and once the scope's steps are used up everything fits.
 */
export function fits(value: unknown, schema: unknown, scope: SchemaScope): boolean {
  if (schema === false) return false;
  if (!isObject(schema)) return true;
  scope.steps -= 1;
  if (scope.steps <= 0) return true;
  return (
    fitsType(value, schema["type"]) &&
    (!Object.hasOwn(schema, "const") || isDeepStrictEqual(value, schema["const"])) &&
    (!Array.isArray(schema["enum"]) || schema["enum"].some((choice) => isDeepStrictEqual(value, choice))) &&
    fitsCombination(value, schema, scope) &&
    fitsKind(value, schema, scope)
  );
}

/** What a local reference (`#`, `#/$defs/name`) points at; undefined when it points nowhere. */
export function resolveReference(reference: unknown, root: unknown): unknown {
  if (typeof reference !== "string" || !reference.startsWith("#")) return undefined;
  let target: unknown = root;
  for (const part of reference.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof target !== "object" || target === null || !Object.hasOwn(target, name)) return undefined;
    target = Reflect.get(target, name);
  }
  return target;
}

function fitsType(value: unknown, type: unknown): boolean {
  const types = [type].flat().filter((name) => typeof name === "string");
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

function fitsCombination(value: unknown, schema: Record<string, unknown>, scope: SchemaScope): boolean {
  const { $ref: reference, allOf, anyOf, oneOf, not } = schema;
  const isFit = (branch: unknown) => fits(value, branch, scope);
  if (reference !== undefined && !isFit(resolveReference(reference, scope.root))) return false;
  if (Array.isArray(allOf) && !allOf.every(isFit)) return false;
  if (Array.isArray(anyOf) && !anyOf.some(isFit)) return false;
  if (Array.isArray(oneOf) && oneOf.filter(isFit).length !== 1) return false;
  return not === undefined || !isFit(not);
}

function fitsKind(value: unknown, schema: Record<string, unknown>, scope: SchemaScope): boolean {
  if (typeof value === "number") return fitsNumber(value, schema);
  if (typeof value === "string")
    return isBetween(Array.from(value).length, schema["minLength"], schema["maxLength"]);
  if (Array.isArray(value)) return fitsArray(value, schema, scope);
  return !isObject(value) || fitsObject(value, schema, scope);
}

function fitsNumber(value: number, schema: Record<string, unknown>): boolean {
  const { exclusiveMinimum: above, exclusiveMaximum: below, multipleOf: step } = schema;
  if (!isBetween(value, schema["minimum"], schema["maximum"])) return false;
  if (typeof above === "number" && value <= above) return false;
  if (typeof below === "number" && value >= below) return false;
  if (typeof step !== "number" || step <= 0) return true;
  return Math.abs(value / step - Math.round(value / step)) < 1e-9;
}

function fitsArray(value: readonly unknown[], schema: Record<string, unknown>, scope: SchemaScope): boolean {
  if (!isBetween(value.length, schema["minItems"], schema["maxItems"])) return false;
  const first = Array.isArray(schema["prefixItems"]) ? schema["prefixItems"] : [];
  if (!value.every((item, index) => fits(item, index < first.length ? first[index] : schema["items"], scope)))
    return false;
  if (schema["uniqueItems"] !== true) return true;
  return new Set(value.map((item) => JSON.stringify(item))).size === value.length;
}

function fitsObject(
  value: Record<string, unknown>,
  schema: Record<string, unknown>,
  scope: SchemaScope,
): boolean {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const names = Object.keys(value);
  if (!required.every((name) => typeof name !== "string" || Object.hasOwn(value, name))) return false;
  if (!isBetween(names.length, schema["minProperties"], schema["maxProperties"])) return false;
  return names.every((name) => {
    const own = Object.hasOwn(properties, name) ? properties[name] : schema["additionalProperties"];
    return fits(value[name], own, scope);
  });
}

function isBetween(value: number, min: unknown, max: unknown): boolean {
  return !(typeof min === "number" && value < min) && !(typeof max === "number" && value > max);
}
