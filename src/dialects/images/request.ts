import { GatewayError } from "../../domain/gateway-error.ts";
import type { ImageRequest } from "../../domain/image.ts";
import { hasRepeatedName, isObject, parseJson, scanObject } from "../../lib/json.ts";
import { readFields } from "./fields.ts";

/** Every name under which a reference image may come. */
export const REFERENCE_FIELDS = ["image", "image[]", "images", "input_images", "image_url", "image_urls"] as const;
export const MASK_FIELDS = ["mask", "mask[]"] as const;

const DEEPEST = 128;

/** Reads a generation: JSON without reference images. Throws a `GatewayError` naming the field to change. */
export function readGeneration(raw: Uint8Array): ImageRequest {
  const body = readImageBody(raw);
  for (const name of [...REFERENCE_FIELDS, ...MASK_FIELDS]) {
    if (body[name] === undefined || body[name] === null) continue;
    const message = `\`${name}\` belongs to an edit: send it to /v1/images/edits, or leave it out.`;
    throw new GatewayError("invalid_parameter", message, { param: name });
  }
  return { ...readFields(body), references: [], compressReferences: false };
}

function readImageBody(raw: Uint8Array): Record<string, unknown> {
  let body: unknown;
  try {
    body = parseJson(raw);
  } catch {
    throw malformed("The request body is not valid JSON in UTF-8.");
  }
  if (!isObject(body)) throw malformed("The request body must be a JSON object.");
  const scan = scanObject(raw, []);
  if (scan.depth > DEEPEST) throw malformed(`The request body is nested more than ${DEEPEST} levels deep.`);
  if (hasRepeatedName(scan, body)) throw malformed("The request body names a field twice at its top level.");
  return body;
}

function malformed(message: string): GatewayError {
  return new GatewayError("invalid_request_body", message);
}
