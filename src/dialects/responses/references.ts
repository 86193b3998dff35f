import type { FeatureUse } from "../../domain/feature.ts";
import { isObject } from "../../lib/json.ts";
import { knownNames, refuseCaseVariants } from "../fields.ts";
import { InputSize } from "../input-size.ts";
import { requireLink } from "../links.ts";

/** References in the input to data outside of the request, and the size of the input. */
export interface References {
  /** Objects in the operator's account at the vendor, with the request's fields that refer to these objects. */
  files: readonly FeatureUse[];
  /** Path of the field with the first link; null when there is no link. */
  linkParam: string | null;
  size: InputSize;
}

const PART_NAMES = knownNames([
  "type",
  "text",
  "refusal",
  "image_url",
  "file_id",
  "file_url",
  "file_data",
  "filename",
  "input_audio",
]);
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/**
 * Finds the references in the items of the input and in their parts. Throws a `GatewayError` for a link that is neither
 * `data:` nor public `https:`. `bytes` and `units` (UTF-16 code units) are the size of the body.
 */
export function readReferences(input: unknown, bytes: number, units: number): References {
  const files: FeatureUse[] = [];
  const size = new InputSize(bytes, units);
  let linkParam: string | null = null;
  if (Array.isArray(input))
    input.forEach((item: unknown, at) => isObject(item) && readStored(item, `input[${at}]`));
  for (const [path, part] of locatedParts(input)) {
    refuseCaseVariants(part, PART_NAMES, path);
    readMembers(path, part);
    for (const name in part) if (isObject(part[name])) readMembers(`${path}.${name}`, part[name]);
  }
  return { files, linkParam, size };

  /** Finds references to containers and pictures of earlier requests, which may belong to another caller. */
  function readStored(item: Record<string, unknown>, path: string): void {
    const { environment } = item;
    for (const [param, owner] of [
      [path, item],
      [`${path}.environment`, environment],
    ] as const)
      if (isObject(owner) && (owner["container_id"] ?? null) !== null)
        files.push({ feature: "container", param: `${param}.container_id` });
    if (item["type"] === "image_generation_call" && typeof item["result"] !== "string")
      files.push({ feature: null, param: `${path}.id` });
  }

  function readMembers(path: string, object: Record<string, unknown>): void {
    for (const name in object) {
      const value = object[name];
      if (typeof value !== "string") continue;
      const param = `${path}.${name}`;
      if (name === "file_id") files.push({ feature: "file_id", param });
      const isFetched = isLink(name, value) && requireLink(value, param);
      if (isFetched) linkParam ??= param;
      if (name === "image_url") size.addImage(value.startsWith("data:") ? value : null);
      else if (isFetched) size.addLinkedMedia();
      else if (name === "file_data" || name === "data") size.addMedia(value);
    }
  }
}

/**
 * True when the value must be a link or a `data:` URL. Fields for data contain either plain base64 or such an address.
 */
function isLink(name: string, value: string): boolean {
  if (name === "url" || name.endsWith("_url")) return true;
  return (name === "data" || name === "file_data") && SCHEME.test(value);
}

/** Yields the parts of messages and tool outputs with their paths. A tool output may be one object (a screenshot). */
function* locatedParts(input: unknown): Generator<[path: string, part: Record<string, unknown>]> {
  if (!Array.isArray(input)) return;
  for (let at = 0; at < input.length; at += 1) {
    const item: unknown = input[at];
    if (!isObject(item)) continue;
    for (const name of ["content", "output"]) {
      const path = `input[${at}].${name}`;
      const value = item[name];
      if (isObject(value)) yield [path, value];
      if (!Array.isArray(value)) continue;
      for (let index = 0; index < value.length; index += 1) {
        const part: unknown = value[index];
        if (isObject(part)) yield [`${path}[${index}]`, part];
      }
    }
  }
}
