import type { Semaphore } from "../lib/semaphore.ts";
import { openPicture } from "./codec.ts";
import type { ImageHeader } from "./header-reader.ts";
import { changePixels } from "./pixels.ts";
import { readImageHeader } from "./sniff.ts";
import { encode } from "./transcode.ts";

/**
 * Compresses a large reference picture again with some loss. Keeps the format and the size in pixels: JPEG and WebP get
 * quality 85, PNG keeps six bits of each colour. Returns the original when the result is not smaller, when the picture
 * is already small, and on any failure.
 */
export async function recompress(image: Blob, slots: Semaphore, signal?: AbortSignal): Promise<Blob> {
  if (image.size < WORTHWHILE_BYTES) return image;
  using _slot = await slots.acquire(signal);
  try {
    const smaller = await encodeCoarsely(image, await readImageHeader(image));
    return smaller && smaller.size < image.size ? smaller : image;
  } catch {
    return image;
  }
}

/** Minimum size in bytes. Compressing a smaller picture again would save too little. */
const WORTHWHILE_BYTES = 64 * 1024;
const QUALITY = 85;

/** Maximum pixels of a PNG. It is unpacked as a whole, so a larger one would take too much memory. */
const MAX_UNPACKED_PIXELS = 2 ** 24;
/**
 * Range of a PNG's size in proportion to its unpacked pixels. In this range the picture is noise, which fewer colours
 * hardly make smaller.
 */
const NOISE = { from: 0.9, to: 1.05 };

/**
 * Encodes a picture with loss. Returns null when the picture stays unchanged: for noise and for formats that are not
 * compressed here.
 */
async function encodeCoarsely(image: Blob, header: ImageHeader): Promise<Blob | null> {
  const { format, width, height } = header;
  if (format === "jpeg" || format === "webp")
    return await encode(await openPicture(image, header), { format, quality: QUALITY });
  if (format !== "png" || width * height > MAX_UNPACKED_PIXELS || isNoise(image, header)) return null;
  const coarse = await changePixels(await openPicture(image, header), dropLowBits);
  return await encode(coarse, { format, quality: QUALITY });
}

function isNoise({ size }: Blob, { width, height, hasAlpha }: ImageHeader): boolean {
  const share = size / (width * height * (hasAlpha ? 4 : 3));
  return share > NOISE.from && share < NOISE.to;
}

/** Sets the two low bits of each colour to its two highest bits, so that black and white do not change. */
function dropLowBits(row: Uint8Array): boolean {
  for (let at = 0; at < row.length; at += 1) {
    const value = row[at] ?? 0;
    if (at % 4 !== 3) row[at] = (value & 0xfc) | (value >> 6);
  }
  return true;
}
