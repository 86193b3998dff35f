import { GatewayError } from "../../domain/gateway-error.ts";
import type { ImageRequest, ReferenceSource } from "../../domain/image.ts";
import { SpooledString } from "../../lib/json-spool.ts";
import { readLongText } from "../long-text.ts";
import { isReadField, isSilentlyIgnored, NUMBERS, readFields } from "./fields.ts";
import { isMaskField, isReferenceField, readReferences } from "./references.ts";

/** A field before parsing. JSON has its long strings on disk; a form has texts and uploaded files (`Blob`). */
export type ImageField = readonly [name: string, value: unknown];

/** True for a field with pictures. Long text in such a field is decoded while it arrives. */
export function isPictureField(name: string | number | undefined): boolean {
  return typeof name === "string" && (isReferenceField(name) || isMaskField(name));
}

/** True for a field that the gateway reads. Other fields are skipped; a response header names most of these. */
export function isKnownField(name: string): boolean {
  return isPictureField(name) || isReadField(name);
}

/** True for a field of image requests, including fields without effect. */
export function isImageField(name: string): boolean {
  return isKnownField(name) || isSilentlyIgnored(name);
}

/** Reads a request for new pictures, without input pictures. Throws a `GatewayError` that names a wrong field. */
export async function readGeneration(fields: readonly ImageField[]): Promise<ImageRequest> {
  for (const [name, value] of fields) {
    if (!isPictureField(name) || value === undefined || value === null) continue;
    const message = `\`${name}\` belongs to an edit: send it to /v1/images/edits, or leave it out.`;
    throw new GatewayError("invalid_parameter", message, { param: name });
  }
  return { ...readFields(await plain(fields)), references: [], compressReferences: false };
}

/** Reads an edit. It has one or more input pictures in the order of upload, and an optional mask. */
export async function readEdit(
  fields: readonly ImageField[],
  compressReferences: boolean,
): Promise<ImageRequest> {
  const scalars = readFields(await plain(fields.filter(([name]) => !isPictureField(name))));
  const references = picturesIn(fields, isReferenceField, "image");
  if (references.length === 0) {
    throw new GatewayError("invalid_image", "Send at least one `image` to edit.", { param: "image" });
  }
  const hasMask = fields.some(([name, value]) => isMaskField(name) && !isAbsent(value));
  return { ...scalars, references, ...(hasMask && { readMask: () => readMask(fields) }), compressReferences };
}

function isAbsent(value: unknown): boolean {
  return (
    value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0)
  );
}

function readMask(fields: readonly ImageField[]): ReferenceSource | undefined {
  const [mask, ...more] = picturesIn(fields, isMaskField, "mask");
  if (more.length === 0) return mask;
  throw new GatewayError("invalid_image", "Send at most one `mask`.", { param: "mask" });
}

/** Removes empty parts of a form and reads numbers. Throws a `GatewayError` when a single-value field occurs twice. */
export function formFields(fields: readonly ImageField[]): ImageField[] {
  const filled = fields.filter(([, value]) => value !== "");
  const seen = new Set<string>();
  return filled.map(([name, value]) => {
    if (seen.has(name) && isReadField(name)) {
      const message = `The form has \`${name}\` more than once.`;
      throw new GatewayError("invalid_parameter", message, { param: name });
    }
    seen.add(name);
    const isNumber = NUMBERS.has(name) && typeof value === "string" && /^-?\d+(?:\.\d+)?$/.test(value);
    return [name, isNumber ? Number(value) : value];
  });
}

function picturesIn(
  fields: readonly ImageField[],
  isOne: (name: string) => boolean,
  param: "image" | "mask",
): ImageRequest["references"] {
  return fields.flatMap(([name, value]) => (isOne(name) ? readReferences(value, param) : []));
}

async function plain(fields: readonly ImageField[]): Promise<Record<string, unknown>> {
  const body: [string, unknown][] = [];
  for (const [name, value] of fields) {
    if (!(value instanceof SpooledString)) body.push([name, value]);
    else body.push([name, isKnownField(name) ? await readLongText(value, name) : undefined]);
  }
  return Object.fromEntries(body);
}
