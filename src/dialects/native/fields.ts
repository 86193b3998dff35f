import { GatewayError } from "../../domain/gateway-error.ts";
import { snakeCase } from "../../lib/casing.ts";
import { isStreamedObject, type StreamedJson, type StreamedObject } from "../../lib/json-spool.ts";

/** A field that is there, under the name it came with. */
export interface Field<Value extends StreamedJson = StreamedJson> {
  key: string;
  value: Value;
}

/**
 * Finds a field by its camel-case name or its snake-case one, which mean the same (protocol buffers, JSON mapping);
 * `null` means absent. Throws where both are there, as nobody can tell which one the vendor would obey.
 */
export function findField(object: StreamedObject, name: string): Field | undefined {
  const other = snakeCase(name);
  const isThere = Object.hasOwn(object, name);
  if (isThere && other !== name && Object.hasOwn(object, other)) {
    throw invalid(name, `stands there twice, also as \`${other}\``);
  }
  const key = isThere ? name : other;
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  return value === undefined || value === null ? undefined : { key, value };
}

/** A field that must be an object where it is there. */
export function findObject(object: StreamedObject, name: string): Field<StreamedObject> | undefined {
  const field = findField(object, name);
  if (!field) return undefined;
  if (!isStreamedObject(field.value)) throw invalid(name, "must be an object");
  return { key: field.key, value: field.value };
}

/** A field that must be an array of objects where it is there. */
export function findObjects(object: StreamedObject, name: string): Field<StreamedObject[]> | undefined {
  const field = findField(object, name);
  if (!field) return undefined;
  const { key, value } = field;
  if (!Array.isArray(value) || !value.every(isStreamedObject))
    throw invalid(name, "must be an array of objects");
  return { key, value };
}

/** A field that must be a short string where it is there. */
export function findText(object: StreamedObject, name: string): string | undefined {
  const value = findField(object, name)?.value;
  if (value === undefined || typeof value === "string") return value;
  throw invalid(name, "must be a string");
}

/** The same object with another value at `key`; every other field keeps its place. */
export function withValue(object: StreamedObject, key: string, value: StreamedJson): StreamedObject {
  return { ...object, [key]: value };
}

export function invalid(name: string, must: string): GatewayError {
  return new GatewayError("invalid_parameter", `\`${name}\` ${must}.`, { param: name });
}
