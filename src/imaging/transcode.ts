import type { ImageFormat } from "../domain/model.ts";
import type { Semaphore } from "../lib/semaphore.ts";
import { UnreadableImageError, type ImageHeader } from "./header-reader.ts";
import { changePixels } from "./pixels.ts";
import { MAX_PIXELS, readImageHeader } from "./sniff.ts";

/**
 * Converts a picture to a format, off the main thread. One of that format is returned unchanged, unless a compression is
 * requested that the format has. Transparency becomes white where the format has none. Throws an
 * `UnreadableImageError` when the bytes cannot be decoded.
 */
export async function transcode(image: Blob, format: ImageFormat, options: TranscodeOptions): Promise<Blob> {
  const { compression, slots, signal } = options;
  const header = await readImageHeader(image);
  if (header.format === format && (format === "png" || compression === undefined)) return image;
  using _slot = await slots.acquire(signal);
  try {
    const needsBackground = format === "jpeg" && header.hasAlpha;
    const maxPixels = decodeLimit(header);
    const opaque = needsBackground ? await changePixels(image, maxPixels, layOnWhite) : null;
    return await encode(opaque ?? image, { format, quality: qualityOf(compression), maxPixels });
  } catch (error) {
    throw new UnreadableImageError("cannot be decoded", { cause: error });
  }
}

interface TranscodeOptions {
  /** 0 (smallest file) to 100 (best quality, the default); png has none. */
  compression?: number;
  /** Bounds how many pictures are decoded or encoded at once. */
  slots: Semaphore;
  /** Ends the wait for a slot. */
  signal?: AbortSignal;
}

/** Encodes a picture anew. Rejects with the codec's error. */
export async function encode(image: Blob | Uint8Array, options: EncodeOptions): Promise<Blob> {
  const { format, quality, maxPixels } = options;
  const pipeline = new Bun.Image(image, { maxPixels });
  const encoders = {
    png: () => pipeline.png(),
    jpeg: () => pipeline.jpeg({ quality }),
    webp: () => pipeline.webp({ quality }),
  } as const satisfies Record<ImageFormat, () => Bun.Image>;
  return await encoders[format]().blob();
}

interface EncodeOptions {
  format: ImageFormat;
  /** 1 to 100; png has none. */
  quality: number;
  maxPixels: number;
}

/**
 * Pixels the codec may unpack for a picture: the number in its header. The codec derives the limit of a compressed
 * colour profile from it, hence a minimum for small pictures.
 */
export function decodeLimit({ width, height }: ImageHeader): number {
  return Math.min(Math.max(width * height, MIN_DECODE_LIMIT), MAX_PIXELS);
}

const MIN_DECODE_LIMIT = 2 ** 20;

/** The codecs' scale starts at 1. */
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
