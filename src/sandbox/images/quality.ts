import type { ImageOrder } from "../../domain/image.ts";
import { ownValue } from "../../lib/own-value.ts";

/** How a picture of one quality is painted and encoded. */
interface Detail {
  /** Pixels that are painted; larger pictures are enlarged from them. */
  pixels: number;
  /** Shapes on the background. */
  shapes: number;
  /** Low bits of a pixel that are scattered, which gives the surfaces a grain. */
  grain: number;
  /** Quality of the jpeg and webp codecs when the caller names no compression. */
  codecQuality: number;
}

const MEDIUM: Detail = { pixels: 400_000, shapes: 16, grain: 0x000100, codecQuality: 80 };

const DETAILS: Readonly<Record<string, Detail>> = {
  low: { pixels: 160_000, shapes: 8, grain: 0, codecQuality: 70 },
  medium: MEDIUM,
  high: { pixels: 1_048_576, shapes: 32, grain: 0x000300, codecQuality: 90 },
  xhigh: { pixels: 1_600_000, shapes: 64, grain: 0x000700, codecQuality: 95 },
  max: { pixels: 2_400_000, shapes: 128, grain: 0x000f00, codecQuality: 100 },
};

/** The quality that takes effect, or undefined for models that have none. */
export function effectiveQuality(order: ImageOrder): string | undefined {
  const { qualities, defaultQuality } = order.model.image;
  if (qualities.length === 0) return undefined;
  if (order.quality !== undefined && qualities.includes(order.quality)) return order.quality;
  return defaultQuality ?? qualities[0];
}

/** Models without qualities paint as for `medium`. */
export function detailOf(quality: string | undefined): Detail {
  return (quality !== undefined && ownValue(DETAILS, quality)) || MEDIUM;
}
