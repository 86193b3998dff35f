import type { ImageOrder, ResolvedSize } from "../../domain/image.ts";
import type { ImageFormat } from "../../domain/model.ts";
import { resolveSize } from "../../domain/size.ts";

/**
 * Returns the size to request. This is the resolved size, with one exception. An edit without a requested shape gets
 * the shape of its first reference, at the tier by which the edit is billed.
 */
export function wantedSize({ size, references: [first], model }: ImageOrder): ResolvedSize {
  if (!size.isShapeFree || !first) return size;
  const ratio = `${first.width}:${first.height}`;
  return resolveSize({ kind: "tier", tier: size.tier, ratio }, model.image);
}

/** True when the vendor gives an edit the shape of its reference. */
export function followsReference({ size, references }: ImageOrder): boolean {
  return size.isShapeFree && references.length > 0;
}

/**
 * Returns the format to request: the caller's format if the model has it, the model's default if the caller set none.
 * If the model lacks the caller's format, PNG is requested if the model has PNG, and the gateway converts the picture.
 */
export function wantedFormat({ format, model }: ImageOrder): ImageFormat | undefined {
  const { formats } = model.image;
  if (format === undefined || formats.includes(format)) return format ?? formats[0];
  return formats.includes("png") ? "png" : formats[0];
}

/** Returns the quality to request; for `auto`, the model's default. If the result is undefined, the vendor chooses. */
export function wantedQuality({ quality, model }: ImageOrder): string | undefined {
  return quality === "auto" ? model.image.defaultQuality : quality;
}

/**
 * Returns the quality to request from a vendor that does not report the quality of the picture. For such a vendor,
 * `auto` is billed at the highest price of all qualities, so the highest quality is requested.
 */
export function billedQuality(order: ImageOrder): string | undefined {
  const { quality, model } = order;
  return wantedQuality(order) ?? (quality === "auto" ? model.image.qualities.at(-1) : undefined);
}
