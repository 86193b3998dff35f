import { repeatRequest } from "../../dialects/native/index.ts";
import type { ImageOrder } from "../../domain/image.ts";
import { isObject } from "../../lib/json.ts";
import { writeJson, type StreamedJson, type StreamedObject } from "../../lib/json-stream.ts";
import { brokenAnswer } from "../http.ts";
import type { LiftedJson } from "../openai/lifted-json.ts";
import type { GenerateConnection } from "./connection.ts";

/** Says the body of a caller who speaks this protocol too. What it has on disk is read while it is sent. */
export function repeatBody(
  native: StreamedObject,
  order: ImageOrder,
  { demandsRoles }: GenerateConnection,
): AsyncGenerator<Uint8Array> {
  return writeJson(repeatRequest(native, order, { demandsRoles }));
}

/** An answer with all it says, and with handles where its long strings were taken out. Throws `broken`. */
export function keepAnswer(answer: Record<string, unknown>, json: LiftedJson): StreamedObject {
  return keepObject(answer, json, 1);
}

/** As deep as callers may go; this is read, and said again, level by level. */
const MOST_LEVELS = 128;

function keepObject(value: Record<string, unknown>, json: LiftedJson, level: number): StreamedObject {
  if (level > MOST_LEVELS) throw brokenAnswer("gave an answer of too many levels");
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, keep(item, json, level + 1)]));
}

function keep(value: unknown, json: LiftedJson, level: number): StreamedJson {
  if (typeof value === "string") return json.lifted(value) ?? value;
  if (typeof value === "number" || typeof value === "boolean") return value;
  if (isObject(value)) return keepObject(value, json, level);
  if (!Array.isArray(value)) return null;
  if (level > MOST_LEVELS) throw brokenAnswer("gave an answer of too many levels");
  return value.map((item) => keep(item, json, level + 1));
}
