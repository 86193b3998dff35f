import type { Semaphore } from "../lib/semaphore.ts";
import { openPicture } from "./codec.ts";
import type { ImageHeader } from "./header-reader.ts";
import { changePixels } from "./pixels.ts";
import { readImageHeader } from "./sniff.ts";
import { encode } from "./transcode.ts";

/**
 * Compresses a large reference (input picture) again with some loss. Keeps the format and the size in pixels. JPEG and
 * WebP get quality 85; a PNG keeps six bits of each colour. Returns the original for a small picture, on failure, and
 * when the result is not smaller.
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

/** Minimum size in bytes. Compressing a smaller picture would save too little. */
const WORTHWHILE_BYTES = 64 * 1024;
const QUALITY = 85;

/** Maximum number of pixels of a PNG. The whole PNG is decoded in memory, so more pixels would take too much memory. */
const MAX_UNPACKED_PIXELS = 2 ** 24;
/**
 * Range of a PNG's bytes per byte of decoded pixels. In this range the picture is noise, and fewer colours would hardly
 * make it smaller.
 */
const NOISE = { from: 0.9, to: 1.05 };

/**
 * Encodes a picture with loss. Returns null for a picture that is not compressed here: noise, a very large PNG or
 * another format.
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

/** Copies the two highest bits of each colour to its two lowest bits. So black and white stay unchanged. */
function dropLowBits(row: Uint8Array): boolean {
  for (let at = 0; at < row.length; at += 1) {
    const value = row[at] ?? 0;
    if (at % 4 !== 3) row[at] = (value & 0xfc) | (value >> 6);
  }
  return true;
}
