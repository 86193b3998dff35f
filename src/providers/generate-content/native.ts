import { repeatRequest } from "../../dialects/native/index.ts";
import type { ImageOrder } from "../../domain/image.ts";
import { isObject } from "../../lib/json.ts";
import { writeJson, type StreamedJson, type StreamedObject } from "../../lib/json-stream.ts";
import { brokenResponse } from "../transport/http.ts";
import type { ExtractedJson } from "../transport/extracted-json.ts";
import type { GenerateContentConnection } from "./connection.ts";

/** Repeats the body of a native request. What it has on disk is read while it is sent. */
export function repeatBody(
  native: StreamedObject,
  order: ImageOrder,
  { demandsRoles }: GenerateContentConnection,
): AsyncGenerator<Uint8Array> {
  return writeJson(repeatRequest(native, order, { demandsRoles }));
}

/** The whole response, with blobs in place of its extracted strings. Throws `broken`. */
export function keepResponse(parsed: Record<string, unknown>, json: ExtractedJson): StreamedObject {
  return keepObject(parsed, json, 1);
}

/** The same bound as for requests, since the response is read and written recursively. */
const MAX_LEVELS = 128;

function keepObject(value: Record<string, unknown>, json: ExtractedJson, level: number): StreamedObject {
  if (level > MAX_LEVELS) throw brokenResponse("gave a response of too many levels");
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, keep(item, json, level + 1)]));
}

function keep(value: unknown, json: ExtractedJson, level: number): StreamedJson {
  if (typeof value === "string") return json.extracted(value) ?? value;
  if (typeof value === "number" || typeof value === "boolean") return value;
  if (isObject(value)) return keepObject(value, json, level);
  if (!Array.isArray(value)) return null;
  if (level > MAX_LEVELS) throw brokenResponse("gave a response of too many levels");
  return value.map((item) => keep(item, json, level + 1));
}
