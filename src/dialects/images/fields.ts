import { GatewayError } from "../../domain/gateway-error.ts";
import type { ImageRequest } from "../../domain/image.ts";
import type { ImageFormat } from "../../domain/model.ts";
import { readSize } from "../../domain/size.ts";
import { knownNames, refuseCaseVariants } from "../fields.ts";
import { MASK_FIELDS, REFERENCE_FIELDS } from "./references.ts";

/** The fields of an image request besides its pictures. */
export type ImageFields = Omit<ImageRequest, "references" | "mask" | "compressReferences">;

const SILENTLY_IGNORED: ReadonlySet<string> = new Set([
  "stream",
  "partial_images",
  "moderation",
  "user",
  "style",
]);
const READ: ReadonlySet<string> = new Set([
  "model",
  "prompt",
  "size",
  "aspectRatio",
  "aspect_ratio",
  "quality",
  "n",
  "output_format",
  "output_compression",
  "response_format",
  "background",
]);

/** Returns true for a field that image endpoints read. */
export function isReadField(name: string): boolean {
  return READ.has(name);
}

/** Returns true for a field of image requests that has no effect and is not named in the header either. */
export function isSilentlyIgnored(name: string): boolean {
  return SILENTLY_IGNORED.has(name);
}

const FORMATS: readonly ImageFormat[] = ["png", "jpeg", "webp"];
const DELIVERIES = ["url", "b64_json"] as const;

const KNOWN_NAMES = knownNames([...READ, ...REFERENCE_FIELDS, ...MASK_FIELDS]);

/**
 * Reads the fields that all image endpoints share; `null` means absent. Throws a `GatewayError` naming a field of a
 * wrong type or out of range. Well-formed values that a model does not support are not an error.
 */
export function readFields(body: Readonly<Record<string, unknown>>): ImageFields {
  const model = optionalText(body, "model");
  if (!model)
    throw new GatewayError("model_required", "Set `model` to the id of an image model.", { param: "model" });
  refuseCaseVariants(body, KNOWN_NAMES);
  const prompt = body["prompt"];
  if (prompt instanceof Blob) throw invalid("prompt", "must be text, not a file");
  if (typeof prompt !== "string" || prompt.trim() === "") {
    throw new GatewayError("prompt_required", "Set `prompt` to what the picture should show.", {
      param: "prompt",
    });
  }
  const size = optionalText(body, "size");
  const ratio = optionalText(body, "aspectRatio") || optionalText(body, "aspect_ratio");
  return {
    model,
    prompt,
    size: readSize(size, ratio),
    quality: optionalText(body, "quality"),
    background: optionalText(body, "background"),
    count: optionalInteger(body, "n", 1, 4) ?? 1,
    format: optionalWord(body, "output_format", FORMATS),
    compression: optionalInteger(body, "output_compression", 0, 100),
    delivery: optionalWord(body, "response_format", DELIVERIES),
    ignored: Object.keys(body).filter(
      (name) => !READ.has(name) && !SILENTLY_IGNORED.has(name) && body[name] !== null,
    ),
  };
}

function optionalText(body: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = body[name] ?? undefined;
  if (value === undefined || typeof value === "string") return value;
  throw invalid(name, "must be a string");
}

function optionalInteger(
  body: Readonly<Record<string, unknown>>,
  name: string,
  min: number,
  max: number,
): number | undefined {
  const value = body[name] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
  throw invalid(name, `must be a whole number from ${min} to ${max}`);
}

function optionalWord<Word extends string>(
  body: Readonly<Record<string, unknown>>,
  name: string,
  words: readonly Word[],
): Word | undefined {
  const value = body[name] ?? undefined;
  if (value === undefined) return undefined;
  const word = words.find((known) => known === value);
  if (word !== undefined) return word;
  throw invalid(name, `must be ${words.map((known) => `\`${known}\``).join(", ")}`);
}

function invalid(name: string, must: string): GatewayError {
  return new GatewayError("invalid_parameter", `\`${name}\` ${must}.`, { param: name });
}
