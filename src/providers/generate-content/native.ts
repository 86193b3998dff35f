import { repeatRequest } from "../../dialects/native/index.ts";
import type { ImageOrder } from "../../domain/image.ts";
import { writeJson, type StreamedObject } from "../../lib/json-spool.ts";
import type { GenerateContentConnection } from "./connection.ts";

/** Repeats the body of a native request. What it has on disk is read while it is sent. */
export function repeatBody(
  native: StreamedObject,
  order: ImageOrder,
  { demandsRoles }: GenerateContentConnection,
): AsyncGenerator<Uint8Array> {
  return writeJson(repeatRequest(native, order, { demandsRoles }));
}
