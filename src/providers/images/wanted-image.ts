import type { ImageOrder, ResolvedSize } from "../../domain/image.ts";
import type { ImageFormat } from "../../domain/model.ts";
import { resolveSize } from "../../domain/size.ts";

/**
 * The size to request: the resolved one, but an edit without a requested shape keeps that of its first reference, at
 * the tier of its price.
 */
export function wantedSize({ size, references: [first], model }: ImageOrder): ResolvedSize {
  if (!size.isShapeFree || !first) return size;
  const ratio = `${first.width}:${first.height}`;
  return resolveSize({ kind: "tier", tier: size.tier, ratio }, model.image);
}

/** Whether the vendor is left to take the shape of an edit from its reference. */
export function followsReference({ size, references }: ImageOrder): boolean {
  return size.isShapeFree && references.length > 0;
}

/**
 * The format to request: the caller's where the model has it, else the model's default. What the gateway has to
 * convert comes without loss where the model can.
 */
export function wantedFormat({ format, model }: ImageOrder): ImageFormat | undefined {
  const { formats } = model.image;
  if (format === undefined || formats.includes(format)) return format ?? formats[0];
  return formats.includes("png") ? "png" : formats[0];
}

/** The quality to request: for `auto` the one that the model's record names, else the vendor's own choice. */
export function wantedQuality({ quality, model }: ImageOrder): string | undefined {
  return quality === "auto" ? model.image.defaultQuality : quality;
}

/**
 * The quality to request of a vendor that does not report its choice: then `auto` is billed at its highest price, so it
 * is requested at that.
 */
export function billedQuality(order: ImageOrder): string | undefined {
  const { quality, model } = order;
  return wantedQuality(order) ?? (quality === "auto" ? model.image.qualities.at(-1) : undefined);
}
