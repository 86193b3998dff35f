import { isStreamedObject, type StreamedJson, type StreamedObject } from "../../../lib/json-spool.ts";
import { camelCase } from "../../../lib/casing.ts";

/**
 * The JSON Schema of a schema in the vendor's own form, a subset of OpenAPI 3.0 with types in capitals, `nullable` and
 * bounds that may be strings (Gemini API reference, `Schema`).
 */
export function readSchema(schema: StreamedObject): StreamedObject {
  const read: StreamedObject = {};
  let isNullable = false;
  for (const [key, value] of Object.entries(schema)) {
    const name = camelCase(key);
    if (value === null || name === "propertyOrdering") continue;
    if (name === "nullable") isNullable = value === true;
    else if (name === "type") read["type"] = typeof value === "string" ? value.toLowerCase() : value;
    else if (name === "example") read["examples"] = [value];
    else read[name] = readKeyword(name, value);
  }
  if (isNullable && typeof read["type"] === "string") read["type"] = [read["type"], "null"];
  if (isNullable && Array.isArray(read["enum"])) read["enum"] = [...read["enum"], null];
  return read;
}

function readKeyword(name: string, value: StreamedJson): StreamedJson {
  if (COUNTS.has(name) && typeof value === "string") return Number(value);
  if (name === "items" && isStreamedObject(value)) return readSchema(value);
  if (name === "anyOf" && Array.isArray(value))
    return value.map((each) => (isStreamedObject(each) ? readSchema(each) : each));
  if ((name === "properties" || name === "defs") && isStreamedObject(value)) {
    const entries = Object.entries(value).map(([key, each]): [string, StreamedJson] => [
      key,
      isStreamedObject(each) ? readSchema(each) : each,
    ]);
    return Object.fromEntries(entries);
  }
  return value;
}

/** Of 64 bits, which JSON of protocol buffers writes as strings. */
const COUNTS: ReadonlySet<string> = new Set([
  "minItems",
  "maxItems",
  "minLength",
  "maxLength",
  "minProperties",
  "maxProperties",
]);
