import { decodeBase64, readDataUrlHeader } from "../../lib/base64.ts";
import {
  isStreamedObject,
  JsonSpoolError,
  readSpooledJson,
  SpooledString,
  type JsonSpoolOptions,
  type StreamedJson,
  type StreamedObject,
} from "../../lib/json-spool.ts";
import type { Spool } from "../../lib/spool.ts";
import { brokenResponse, MAX_IMAGE_BYTES, readPieces } from "./http.ts";

/** The fields with an image in the vendors' protocols. */
const IMAGE_FIELDS: ReadonlySet<unknown> = new Set(["b64_json", "data"]);

const LIMITS: Partial<JsonSpoolOptions> = {
  decode: (path) => IMAGE_FIELDS.has(path.at(-1)),
  maxBodyBytes: MAX_IMAGE_BYTES,
  maxStringBytes: MAX_IMAGE_BYTES,
  maxSkeletonBytes: 4 * 1024 * 1024,
  maxValues: 200_000,
};

/**
 * Reads a JSON object that contains images as base64. Base64 over 64 KiB is decoded into `spool` as it arrives, so that
 * no large image is ever whole in memory. Throws `broken` for any other body, or the signal's reason.
 */
export async function readImageJson(
  response: Response,
  spool: Spool,
  signal: AbortSignal,
): Promise<StreamedObject> {
  try {
    const value = await readSpooledJson(readPieces(response, MAX_IMAGE_BYTES, signal), spool, LIMITS);
    if (!isStreamedObject(value)) throw brokenResponse("gave no object");
    return value;
  } catch (error) {
    if (error instanceof JsonSpoolError) throw brokenResponse(`gave unreadable JSON: ${error.reason}`, error);
    throw error;
  }
}

/**
 * Returns the image of a base64 field; undefined for an absent, null or empty field. Throws `broken` for a value that
 * is no base64.
 */
export function imageOf(value: StreamedJson | undefined): Blob | undefined {
  if (value instanceof SpooledString && value.decoded) return value.blob;
  if (value === undefined || value === null || value === "") return undefined;
  const bytes = typeof value === "string" ? decodeBase64(afterHeader(value)) : null;
  if (!bytes) throw brokenResponse("gave an image that is no base64");
  return new Blob([new Uint8Array(bytes)]);
}

/** Returns the base64 of a field. Some compatible vendors send a whole `data:` URL where only base64 is allowed. */
function afterHeader(text: string): string {
  return text.slice(readDataUrlHeader(text)?.length ?? 0);
}
