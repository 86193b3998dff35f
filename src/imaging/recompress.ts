import type { Semaphore } from "../lib/semaphore.ts";
import { openPicture } from "./codec.ts";
import type { ImageHeader } from "./header-reader.ts";
import { encodePng, MAX_PNG_PIXELS } from "./png/index.ts";
import { readImageHeader } from "./sniff.ts";
import { encode } from "./transcode.ts";

/**
 * Compresses a large reference (input picture) again with some loss. Keeps the format and the size in pixels. JPEG and
 * WebP get quality 85; a PNG keeps its channels, and six bits of each colour. Returns the original for a small picture,
 * when `encodeCoarsely` returns null or fails (as for a palette PNG), and when the result is not smaller.
 */
export async function recompress(image: Blob, slots: Semaphore, signal?: AbortSignal): Promise<Blob> {
  if (image.size < WORTHWHILE_BYTES) return image;
  using _slot = await slots.acquire(signal);
  try {
    const smaller = await encodeCoarsely(image, await readImageHeader(image), signal);
    return smaller && smaller.size < image.size ? smaller : image;
  } catch {
    return image;
  }
}

/** Minimum size in bytes. Compressing a smaller picture would save too little. */
const WORTHWHILE_BYTES = 64 * 1024;
const QUALITY = 85;

/**
 * Range of a PNG's bytes per byte of decoded pixels. In this range the picture is noise, and fewer colours would hardly
 * make the picture smaller.
 */
const NOISE = { from: 0.9, to: 1.05 };

/** Encodes a picture with loss. Null for a noisy or very large PNG, and for formats other than JPEG, WebP and PNG. */
async function encodeCoarsely(
  image: Blob,
  header: ImageHeader,
  signal: AbortSignal | undefined,
): Promise<Blob | null> {
  const { format, width, height } = header;
  if (format === "jpeg" || format === "webp")
    return await encode(await openPicture(image, header), { format, quality: QUALITY });
  if (format !== "png" || width * height > MAX_PNG_PIXELS || isNoise(image, header)) return null;
  return await encodePng(await image.bytes(), { kind: "coarsen" }, signal);
}

function isNoise({ size }: Blob, { width, height, hasAlpha }: ImageHeader): boolean {
  const share = size / (width * height * (hasAlpha ? 4 : 3));
  return share > NOISE.from && share < NOISE.to;
}
