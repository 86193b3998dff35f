import type { ImageFormat } from "../domain/model.ts";
import type { Semaphore } from "../lib/semaphore.ts";
import { openPicture } from "./codec.ts";
import { UNDECODABLE, UnreadableImageError, type ImageHeader } from "./header-reader.ts";
import { changePixels } from "./pixels.ts";
import { readImageHeader } from "./sniff.ts";

/**
 * Converts a picture to a format, in another thread. Returns a picture that has the format already unchanged, unless a
 * compression is requested and the format supports it. Transparency becomes white if the format does not support it.
 * Throws an `UnreadableImageError` when the bytes cannot be decoded.
 */
export async function transcode(image: Blob, format: ImageFormat, options: TranscodeOptions): Promise<Blob> {
  const { compression, slots, signal } = options;
  const header = await readImageHeader(image);
  if (header.format === format && (format === "png" || compression === undefined)) return image;
  using _slot = await slots.acquire(signal);
  return await encodeAs(format, image, header, { quality: qualityOf(compression), signal });
}

/**
 * Decodes a picture and encodes it upright. The caller must hold a slot. Throws an `UnreadableImageError` when the
 * picture cannot be decoded.
 */
export async function encodeAs(
  format: ImageFormat,
  image: Blob,
  header: ImageHeader,
  { quality = FINE, isLossless, signal }: Partial<Omit<EncodeOptions, "format">> & { signal?: AbortSignal },
): Promise<Blob> {
  try {
    const picture = await openPicture(image, header, signal);
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

/** A quality whose loss is invisible. */
const FINE = 95;

interface TranscodeOptions {
  /** Compression from 0 (smallest file) to 100 (best quality, the default); unused for png. */
  compression?: number;
  /** Slots that limit how many pictures are decoded or encoded at the same time. */
  slots: Semaphore;
  /** Aborts the wait for a slot, and the decoding of formats that the built-in codec does not support. */
  signal?: AbortSignal;
}

/** Decodes and encodes a picture by the pipeline. Rejects with the error of the codec. */
export async function encode(
  picture: Bun.Image,
  { format, quality, isLossless = false }: EncodeOptions,
): Promise<Blob> {
  const encoders = {
    png: () => picture.png(),
    jpeg: () => picture.jpeg({ quality }),
    webp: () => picture.webp(isLossless ? { lossless: true } : { quality }),
  } as const satisfies Record<ImageFormat, () => Bun.Image>;
  return await encoders[format]().blob();
}

interface EncodeOptions {
  format: ImageFormat;
  /** Quality from 1 to 100; unused for png. */
  quality: number;
  /** True to encode webp without loss. The quality is then unused. */
  isLossless?: boolean | undefined;
}

/** Returns the quality for the codecs, whose scale starts at 1. */
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
