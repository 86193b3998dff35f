import type { ImageFormat } from "../domain/model.ts";
import type { Semaphore } from "../lib/semaphore.ts";
import { openPicture } from "./codec.ts";
import { UNDECODABLE, UnreadableImageError, type ImageHeader } from "./header-reader.ts";
import { changePixels } from "./pixels.ts";
import { encodePng, MAX_PNG_PIXELS } from "./png/index.ts";
import { readImageHeader } from "./sniff.ts";

/**
 * Converts a picture to a format. Other threads decode and encode. A picture that already has the format stays
 * unchanged, except when a compression is requested and the format supports it. Transparency becomes white if the
 * format has no alpha. Throws an `UnreadableImageError` when the bytes cannot be decoded.
 */
export async function transcode(image: Blob, format: ImageFormat, options: TranscodeOptions): Promise<Blob> {
  const { compression, slots, signal } = options;
  const header = await readImageHeader(image);
  if (header.format === format && (format === "png" || compression === undefined)) return image;
  using _slot = await slots.acquire(signal);
  return await encodeAs(format, image, header, { quality: qualityOf(compression), signal });
}

/**
 * Decodes a picture and encodes it upright. The caller must have a codec slot. Throws an `UnreadableImageError` when
 * the picture cannot be decoded.
 */
export async function encodeAs(
  format: ImageFormat,
  image: Blob,
  header: ImageHeader,
  { quality = FINE, isLossless, signal }: Partial<Omit<EncodeOptions, "format">> & { signal?: AbortSignal },
): Promise<Blob> {
  try {
    const picture = await openPicture(image, header, signal);
    if (format === "png") {
      if (header.width * header.height > MAX_PNG_PIXELS) return await picture.png().blob();
      const png = await picture.png({ compressionLevel: 0 }).bytes();
      return await encodePng(png, { kind: "reduce", hasAlpha: header.hasAlpha }, signal);
    }
    const needsBackground = format === "jpeg" && header.hasAlpha;
    return await encode(needsBackground ? await changePixels(picture, layOnWhite) : picture, {
      format,
      quality,
      isLossless,
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw new UnreadableImageError(UNDECODABLE, { cause: error });
  }
}

/** The quality (1 to 100) at which the loss is invisible. */
const FINE = 95;

interface TranscodeOptions {
  /** Compression from 0 (smallest file) to 100 (best quality, the default). PNG ignores this value. */
  compression?: number;
  /** Slots that limit how many pictures are decoded or encoded at the same time. */
  slots: Semaphore;
  /** Aborts the wait for a slot, and work in threads outside the codec (foreign formats and PNG encoding). */
  signal?: AbortSignal;
}

/** Runs the pipeline: decodes the picture and encodes it. Rejects with the error of the codec. */
export async function encode(
  picture: Bun.Image,
  { format, quality, isLossless = false }: EncodeOptions,
): Promise<Blob> {
  const encoded =
    format === "jpeg"
      ? picture.jpeg({ quality })
      : picture.webp(isLossless ? { lossless: true } : { quality });
  return await encoded.blob();
}

interface EncodeOptions {
  format: Exclude<ImageFormat, "png">;
  /** Quality from 1 to 100. */
  quality: number;
  /** True for WebP without loss. The quality is then ignored. */
  isLossless?: boolean | undefined;
}

/** Returns the quality for the codecs. The codecs' scale starts at 1; the scale of `compression` starts at 0. */
function qualityOf(compression: number | undefined): number {
  return Math.min(Math.max(compression ?? 100, 1), 100);
}

function layOnWhite(row: Uint8Array): boolean {
  let isChanged = false;
  for (let at = 0; at < row.length; at += 4) {
    const alpha = row[at + 3] ?? 255;
    if (alpha === 255) continue;
    const white = (255 - alpha) * 255;
    for (let channel = at; channel < at + 3; channel += 1)
      row[channel] = Math.round(((row[channel] ?? 0) * alpha + white) / 255);
    row[at + 3] = 255;
    isChanged = true;
  }
  return isChanged;
}
