import type { Semaphore } from "../lib/semaphore.ts";
import { openPicture } from "./codec.ts";
import type { ImageHeader } from "./header-reader.ts";
import { changePixels } from "./pixels.ts";
import { readImageHeader } from "./sniff.ts";
import { encode } from "./transcode.ts";

/**
 * Recompresses a large reference picture with some loss, keeping format and size in pixels: JPEG and WebP at quality
 * 85, PNG with six bits of each colour. Returns the original when the result is not smaller, when the picture is
 * already small, and on any failure.
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

/** Smaller pictures are not recompressed: they cost the network too little. */
const WORTHWHILE_BYTES = 64 * 1024;
const QUALITY = 85;

/** A PNG is unpacked as a whole, so larger ones would take too much memory. */
const MAX_UNPACKED_PIXELS = 2 ** 24;
/** A PNG whose size is between these shares of its pixels' bytes is noise, which fewer colours hardly make smaller. */
const NOISE = { from: 0.9, to: 1.05 };

/** Encodes a picture with loss. Null when it stays unchanged, such as a format without an encoder, or noise. */
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

/** Keeps the six high bits of each colour, repeating the top two below so that black and white stay themselves. */
function dropLowBits(row: Uint8Array): boolean {
  for (let at = 0; at < row.length; at += 1) {
    const value = row[at] ?? 0;
    if (at % 4 !== 3) row[at] = (value & 0xfc) | (value >> 6);
  }
  return true;
}
