import type { ImageOrder, ResolvedSize } from "../../domain/image.ts";
import type { ImageFormat } from "../../domain/model.ts";
import { resolveSize } from "../../domain/size.ts";

/**
 * Returns the size to request: the resolved one. An edit without a requested shape keeps that of its first reference,
 * at the tier of its price.
 */
export function wantedSize({ size, references: [first], model }: ImageOrder): ResolvedSize {
  if (!size.isShapeFree || !first) return size;
  const ratio = `${first.width}:${first.height}`;
  return resolveSize({ kind: "tier", tier: size.tier, ratio }, model.image);
}

/** True when the vendor takes the shape of an edit from its reference. */
export function followsReference({ size, references }: ImageOrder): boolean {
  return size.isShapeFree && references.length > 0;
}

/**
 * Returns the format to request: the caller's if the model has it, else the model's default. A picture that the
 * gateway converts is requested without loss if the model can.
 */
export function wantedFormat({ format, model }: ImageOrder): ImageFormat | undefined {
  const { formats } = model.image;
  if (format === undefined || formats.includes(format)) return format ?? formats[0];
  return formats.includes("png") ? "png" : formats[0];
}

/**
 * Returns the quality to request: for `auto` the one that the model's record names, else none, so that the vendor
 * chooses.
 */
export function wantedQuality({ quality, model }: ImageOrder): string | undefined {
  return quality === "auto" ? model.image.defaultQuality : quality;
}

/**
 * Returns the quality to request of a vendor that does not report its choice: `auto` is then billed at its highest
 * price, so that quality is requested.
 */
export function billedQuality(order: ImageOrder): string | undefined {
  const { quality, model } = order;
  return wantedQuality(order) ?? (quality === "auto" ? model.image.qualities.at(-1) : undefined);
}
