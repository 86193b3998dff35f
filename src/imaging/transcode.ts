import type { ImageFormat } from "../domain/model.ts";
import type { Semaphore } from "../lib/semaphore.ts";
import { UnreadableImageError, type ImageHeader } from "./header-reader.ts";
import { changePixels } from "./pixels.ts";
import { MAX_PIXELS, readImageHeader } from "./sniff.ts";

/**
 * Gives a picture in the wanted format, off the main thread. One that has it already comes back as it is, unless
 * a compression is asked for that the format knows. Transparency is kept where the target has it and laid on
 * white where not. Throws an `UnreadableImageError` when the bytes are no picture that can be decoded.
 */
export async function transcode(image: Blob, format: ImageFormat, options: TranscodeOptions): Promise<Blob> {
  const { compression, slots, signal } = options;
  const header = await readImageHeader(image);
  if (header.format === format && (format === "png" || compression === undefined)) return image;
  using _slot = await slots.acquire(signal);
  try {
    const needsGround = format === "jpeg" && header.hasAlpha;
    const maxPixels = decodeLimit(header);
    const grounded = needsGround ? await changePixels(image, maxPixels, layOnWhite) : null;
    return await encode(grounded ?? image, { format, quality: qualityOf(compression), maxPixels });
  } catch (error) {
    throw new UnreadableImageError("cannot be decoded", { cause: error });
  }
}

export interface TranscodeOptions {
  /** 0 (smallest file) to 100 (finest picture), the default; png has none. */
  compression?: number;
  /** How many pictures may be worked on at once. */
  slots: Semaphore;
  /** Gives up waiting for a place. */
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

export interface EncodeOptions {
  format: ImageFormat;
  /** 1 to 100; png has none. */
  quality: number;
  maxPixels: number;
}

/**
 * Pixels the codec may unpack for a picture: no more than its header told. The codec derives from it how far a
 * packed colour profile may grow, hence room for an honest one even in a small picture.
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
