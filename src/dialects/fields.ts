import { GatewayError } from "../domain/gateway-error.ts";
import { foldCase } from "../lib/casing.ts";
import { isObject } from "../lib/json.ts";

/** Plain JSON Schema 2020-12. The published description of the interface (OpenAPI) contains it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A rule for the value of a documented field. */
export interface Check {
  holds(value: unknown): boolean;
  /** Description of the rule in error messages, such as "a number". */
  must: string;
  /** The rule in the form of JSON Schema, for the published description of the interface. */
  schema: JsonSchema;
}

export const number = rule("a number", { type: "number" }, (value) => typeof value === "number");
export const integer = rule("a whole number", { type: "integer" }, Number.isInteger);
export const positive = { ...whole(1, Number.MAX_SAFE_INTEGER), must: "a whole number of at least 1" };
export const boolean = rule("true or false", { type: "boolean" }, (value) => typeof value === "boolean");
export const text = rule("a string", { type: "string" }, (value) => typeof value === "string");
export const list = rule("an array", { type: "array" }, Array.isArray);
export const object = rule("an object", { type: "object" }, isObject);
export const texts = rule(
  "an array of strings",
  { type: "array", items: text.schema },
  (value) => Array.isArray(value) && value.every(text.holds),
);
export const textOrObject = either(text, object);
export const textOrList = either(text, list);
export const textOrTexts = either(text, texts);

function rule(must: string, schema: JsonSchema, holds: Check["holds"]): Check {
  return { holds, must, schema };
}

export function whole(minimum: number, maximum: number): Check {
  const must = `a whole number from ${minimum} to ${maximum}`;
  const isInside = (value: unknown) => Number(value) >= minimum && Number(value) <= maximum;
  return rule(
    must,
    { type: "integer", minimum, maximum },
    (value) => integer.holds(value) && isInside(value),
  );
}

export function oneOf(words: readonly string[], must: string): Check {
  return rule(must, { type: "string", enum: words }, (value) => words.some((word) => word === value));
}

function either(one: Check, other: Check): Check {
  const must = `${one.must} or ${other.must}`;
  const schema = { anyOf: [one.schema, other.schema] };
  return rule(must, schema, (value) => one.holds(value) || other.holds(value));
}

/** Returns the check with a more detailed schema. `holds` does not test the added details. */
export function shaped(check: Check, schema: JsonSchema): Check {
  return { ...check, schema: { ...check.schema, ...schema } };
}

/** An object with a `type`, such as a content part, block or tool. */
export const TYPED: JsonSchema = { type: "object", properties: { type: text.schema }, required: ["type"] };

/**
 * Documented fields: name, rule, and a description if the name is not self-explanatory. The rules contain hardly any
 * ranges and enumerations, because vendors differ in these. Vendors refuse wrong values themselves.
 */
export type FieldChecks = readonly (readonly [name: string, check: Check, description?: string])[];

export const STREAM_DESCRIPTION = "Server-sent events in place of one object";

/** Returns the published schema of an object with its checked fields and `others`. The object may have more fields. */
export function requestSchema(
  fields: FieldChecks,
  others: JsonSchema,
  required: readonly string[] = Object.keys(others),
): JsonSchema {
  const checked = fields.map(([name, { schema }, description]) => [
    name,
    { ...(description && { description }), ...(required.includes(name) ? schema : nullable(schema)) },
  ]);
  return { type: "object", properties: { ...others, ...Object.fromEntries(checked) }, required };
}

/** Returns the schema of an optional field. Null means that the field is absent. */
export function nullable(schema: JsonSchema): JsonSchema {
  return { anyOf: [schema, { type: "null" }] };
}

/** Throws a `GatewayError` that names the first field that breaks its rule. Null means that the field is absent. */
export function checkTypes(body: Record<string, unknown>, fields: FieldChecks): void {
  for (const [name, check] of fields) {
    const value = body[name];
    if (value !== undefined && value !== null && !check.holds(value)) throw wrongType(name, check.must);
  }
}

/** Returns the rule that an item breaks; undefined for a valid item. */
type Wrong = (item: unknown) => string | undefined;

/** If `items` is a list, throws a `GatewayError` that names its first wrong item. */
export function checkEach(name: string, items: unknown, wrong: Wrong): void {
  if (!Array.isArray(items)) return;
  for (let index = 0; index < items.length; index += 1) {
    const must = wrong(items[index]);
    if (must !== undefined) throw wrongType(`${name}[${index}]`, must);
  }
}

export function wrongType(name: string, must: string): GatewayError {
  return new GatewayError("invalid_parameter", `\`${name}\` must be ${must}.`, { param: name });
}

/** Names that the gateway reads, by their lower-case form. */
export type KnownNames = ReadonlyMap<string, string>;

const PLAIN = /^[a-z0-9_]*$/;

export function knownNames(names: Iterable<string>): KnownNames {
  return new Map(Array.from(names, (name) => [foldCase(name), name]));
}

/**
 * Refuses a field whose name differs only in case from a name that the gateway reads. A vendor that ignores case would
 * use this unchecked field. `path` is the path of the object; it is empty at the top level.
 */
export function refuseCaseVariants(object: object, known: KnownNames, path = ""): void {
  for (const name in object) {
    if (known.get(name) === name || (PLAIN.test(name) && !known.has(name))) continue;
    const meant = known.get(foldCase(name));
    if (meant === undefined || meant === name) continue;
    const message = `\`${name}\` differs only in case from \`${meant}\`. Use that name, once, or leave it out.`;
    throw new GatewayError("invalid_parameter", message, { param: path === "" ? name : `${path}.${name}` });
  }
}
