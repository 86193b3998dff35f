import type { FeatureUse } from "../../domain/feature.ts";
import { isObject } from "../../lib/json.ts";
import { knownNames, refuseCaseVariants } from "../field-names.ts";
import type { InputSize } from "../input-size.ts";
import { requireLink } from "../links.ts";

/** References of a conversation's parts to anything outside of the request. */
export interface References {
  /** Files in the operator's account at the vendor. */
  files: readonly FeatureUse[];
  /** The field of the first `https:` link; null where there is none. */
  linkParam: string | null;
}

const PART_NAMES = knownNames([
  "type",
  "text",
  "image_url",
  "video_url",
  "audio_url",
  "document_url",
  "file_url",
  "file",
  "file_id",
  "input_audio",
]);
const MEDIA_NAMES = knownNames(["url", "data", "file_data", "file_url", "file_id"]);
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/**
 * Reads the references of content parts of every kind, at the part itself and in its objects. Throws a `GatewayError`
 * for a link that is neither `data:` nor a public `https:` one: a vendor inside a private network would fetch it.
 * Counts the size of linked media, but for pictures.
 */
export function readReferences(messages: unknown, size: InputSize): References {
  const files: FeatureUse[] = [];
  let linkParam: string | null = null;
  eachPart(messages, (part, path) => {
    refuseCaseVariants(part, PART_NAMES, path);
    readMembers(path, part);
    for (const name in part) {
      const media = part[name];
      if (!isObject(media)) continue;
      refuseCaseVariants(media, MEDIA_NAMES, `${path}.${name}`);
      readMembers(`${path}.${name}`, media);
    }
  });
  return { files, linkParam };

  function readMembers(path: string, object: Record<string, unknown>): void {
    for (const name in object) {
      const value = object[name];
      if (typeof value !== "string") continue;
      const param = `${path}.${name}`;
      if (name === "file_id") files.push({ feature: "file_id", param });
      if (!isLink(name, value) || !requireLink(value, param)) continue;
      linkParam ??= param;
      if (name !== "image_url" && !path.endsWith(".image_url")) size.addLinkedMedia();
    }
  }
}

/** Data may be base64 alone, or a link in its place. */
function isLink(name: string, value: string): boolean {
  if (name === "url" || name.endsWith("_url")) return true;
  return (name === "data" || name === "file_data") && SCHEME.test(value);
}

function eachPart(messages: unknown, take: (part: Record<string, unknown>, path: string) => void): void {
  if (!Array.isArray(messages)) return;
  for (let at = 0; at < messages.length; at += 1) {
    const message: unknown = messages[at];
    const content: unknown = isObject(message) ? message["content"] : undefined;
    if (!Array.isArray(content)) continue;
    for (let index = 0; index < content.length; index += 1) {
      const part: unknown = content[index];
      if (isObject(part)) take(part, `messages[${at}].content[${index}]`);
    }
  }
}
