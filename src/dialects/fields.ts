import { GatewayError } from "../domain/gateway-error.ts";
import { foldCase } from "../lib/casing.ts";
import { isObject } from "../lib/json.ts";

/** A rule for the value of a documented field. */
export interface Check {
  holds(value: unknown): boolean;
  /** In words, for the message: "a number". */
  must: string;
}

export const number: Check = { holds: (value) => typeof value === "number", must: "a number" };
export const positive: Check = {
  holds: (value) => Number.isSafeInteger(value) && Number(value) >= 1,
  must: "a whole number of at least 1",
};
export const boolean: Check = { holds: (value) => typeof value === "boolean", must: "true or false" };
export const text: Check = { holds: (value) => typeof value === "string", must: "a string" };
export const list: Check = { holds: Array.isArray, must: "an array" };
export const object: Check = { holds: isObject, must: "an object" };
export const textOrObject: Check = {
  holds: (value) => text.holds(value) || isObject(value),
  must: "a string or an object",
};
export const textOrTexts: Check = {
  holds: (value) => text.holds(value) || (Array.isArray(value) && value.every(text.holds)),
  must: "a string or an array of strings",
};

/** Documented fields and their types. Ranges and enumerations differ between vendors, which refuse them. */
export type FieldChecks = readonly (readonly [name: string, check: Check])[];

/** Throws a `GatewayError` that names the first field of a wrong type; null counts as absent. */
export function checkTypes(body: Record<string, unknown>, fields: FieldChecks): void {
  for (const [name, check] of fields) {
    const value = body[name];
    if (value !== undefined && value !== null && !check.holds(value)) throw wrongType(name, check.must);
  }
}

/** Returns the rule that an item breaks; undefined when it is valid. */
type Wrong = (item: unknown) => string | undefined;

/** Throws a `GatewayError` that names the first item that is wrong, where `items` are a list. */
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

/** Names that the gateway reads, by their form without case. */
export type KnownNames = ReadonlyMap<string, string>;

const PLAIN = /^[a-z0-9_]*$/;

export function knownNames(names: Iterable<string>): KnownNames {
  return new Map(Array.from(names, (name) => [foldCase(name), name]));
}

/**
 * Refuses a name that differs only in case from one that the gateway reads: a vendor whose reader ignores case would
 * obey a value that the gateway has not checked. `path` is that of the object, empty at the top.
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
