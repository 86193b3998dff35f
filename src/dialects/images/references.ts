import { GatewayError } from "../../domain/gateway-error.ts";
import type { ReferenceSource } from "../../domain/image.ts";
import { decodeBase64, isDataUrl, readDataUrlHeader } from "../../lib/base64.ts";
import { isObject } from "../../lib/json.ts";
import { SpooledString } from "../../lib/json-spool.ts";
import { MAX_LINK_CHARACTERS } from "../../lib/safe-fetch.ts";

/** All field names for input pictures. The brackets may contain a number: `image[0]`. */
export const REFERENCE_FIELDS = ["image", "images", "input_images", "image_url", "image_urls"].flatMap(
  (name) => [name, `${name}[]`],
);
export const MASK_FIELDS = ["mask", "mask[]"];

const NUMBER = /\[\d{1,3}\]$/;

export function isReferenceField(name: string): boolean {
  return REFERENCE_FIELDS.includes(name.replace(NUMBER, "[]"));
}

export function isMaskField(name: string): boolean {
  return MASK_FIELDS.includes(name);
}

const FILE_ID = /^file[-_][\w-]+$/;

/**
 * Returns the pictures in a field's value. The value is an uploaded file, a string, an object in OpenAI's form, or an
 * array of these. Does not fetch links. Throws a `GatewayError` with `param` for a value that cannot be a picture.
 */
export function readReferences(value: unknown, param: "image" | "mask"): ReferenceSource[] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return value.flatMap((item) => [readReference(item, param)]);
  return [readReference(value, param)];
}

function readReference(value: unknown, param: string): ReferenceSource {
  if (value instanceof Blob) return { kind: "file", blob: value };
  if (value instanceof SpooledString) return { kind: "file", blob: spooled(value, param) };
  if (typeof value === "string") return readText(value.trim(), param);
  if (!isObject(value)) throw invalid(param, "must be a link, a data URL, base64 or an uploaded file");
  if (value["file_id"] !== undefined && value["file_id"] !== null) throw fileReference(param);
  const inner = value["image_url"] ?? value["url"];
  const link = isObject(inner) && !(inner instanceof SpooledString) ? inner["url"] : inner;
  if (typeof link !== "string" && !(link instanceof SpooledString))
    throw invalid(param, "must name an `image_url`");
  return readReference(link, param);
}

function readText(text: string, param: string): ReferenceSource {
  if (/^[a-z][a-z0-9+.-]*:/i.test(text) && !isDataUrl(text)) {
    if (text.length > MAX_LINK_CHARACTERS)
      throw invalid(param, `has a link of over ${MAX_LINK_CHARACTERS} characters`);
    return { kind: "link", url: text };
  }
  if (FILE_ID.test(text)) throw fileReference(param);
  const header = isDataUrl(text) ? readDataUrlHeader(text) : { length: 0 };
  const bytes = header && decodeBase64(text.slice(header.length));
  if (!bytes || bytes.length === 0)
    throw invalid(param, "is neither an https link, a base64 data URL nor base64");
  return { kind: "file", blob: new Blob([bytes]) };
}

function spooled({ blob, decoded }: SpooledString, param: string): Blob {
  if (decoded) return blob;
  throw invalid(param, "is neither an https link, a base64 data URL nor base64");
}

function invalid(param: string, problem: string): GatewayError {
  return new GatewayError("invalid_image", `\`${param}\` ${problem}.`, { param });
}

function fileReference(param: string): GatewayError {
  const message = "File ids are not supported: send a link, a data URL, base64 or the file itself.";
  return new GatewayError("unsupported_file_reference", message, { param });
}
