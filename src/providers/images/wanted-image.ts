import type { ImageOrder, ResolvedSize } from "../../domain/image.ts";
import type { ImageFormat } from "../../domain/model.ts";
import { resolveSize } from "../../domain/size.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";

/**
 * The size to ask for: as planned; but an edit whose caller named no shape keeps that of its first reference, at the
 * tier that it is priced as.
 */
export function wantedSize({ size, references: [first], model }: ImageOrder): ResolvedSize {
  if (!size.isShapeFree || !first) return size;
  const ratio = `${first.width}:${first.height}`;
  return resolveSize({ kind: "tier", tier: size.tier, ratio }, model.image);
}

/** Whether the vendor may choose the shape of an edit, which it takes from the reference then. */
export function followsReference({ size, references }: ImageOrder): boolean {
  return size.isShapeFree && references.length > 0;
}

/**
 * The format to ask for: the caller's where the model has it, else the model's default. A format that only the
 * gateway can make is best made from a picture without loss.
 */
export function wantedFormat({ format, model }: ImageOrder): ImageFormat | undefined {
  const { formats } = model.image;
  if (format === undefined || formats.includes(format)) return format ?? formats[0];
  return formats.includes("png") ? "png" : formats[0];
}

/** For vendors that have no masks: a picture painted over as a whole is not what was asked for. Throws `rejected`. */
export function refuseMask({ mask }: ImageOrder): void {
  if (!mask) return;
  throw new UpstreamError("rejected", "the vendor has no masks", {
    publicMessage: "This model does not take a mask.",
    param: "mask",
    isUnsent: true,
  });
}
