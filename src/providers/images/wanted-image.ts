import type { ImageOrder, ResolvedSize } from "../../domain/image.ts";
import type { ImageFormat } from "../../domain/model.ts";
import { resolveSize } from "../../domain/size.ts";

/**
 * Returns the size to request, which is the resolved size, except for an edit without a requested shape: it keeps the
 * shape of its first reference, at the tier that it is billed by.
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
 * Returns the format to request: the caller's if the model has it, otherwise the model's default. If the gateway has to
 * convert the picture, a lossless format is requested where the model has one.
 */
export function wantedFormat({ format, model }: ImageOrder): ImageFormat | undefined {
  const { formats } = model.image;
  if (format === undefined || formats.includes(format)) return format ?? formats[0];
  return formats.includes("png") ? "png" : formats[0];
}

/**
 * Returns the quality to request. For `auto`, returns the quality that the model's record names; undefined without one,
 * so that the vendor chooses.
 */
export function wantedQuality({ quality, model }: ImageOrder): string | undefined {
  return quality === "auto" ? model.image.defaultQuality : quality;
}

/**
 * Returns the quality to request from a vendor that does not report which quality it chose. For such a vendor `auto` is
 * billed at its highest price, so the highest quality is requested.
 */
export function billedQuality(order: ImageOrder): string | undefined {
  const { quality, model } = order;
  return wantedQuality(order) ?? (quality === "auto" ? model.image.qualities.at(-1) : undefined);
}
