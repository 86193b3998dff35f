import { ByteCursor } from "./byte-cursor.ts";
import type { ImageHeader } from "./header-reader.ts";
import { walkGif } from "./structure/gif.ts";
import { walkHeif } from "./structure/heif.ts";
import { walkJpeg } from "./structure/jpeg.ts";
import { walkPng } from "./structure/png.ts";
import { walkWebp } from "./structure/webp.ts";

/**
 * Walks a picture's structure to its end without decoding pixels, in time proportional to its bytes. Throws an
 * `UnreadableImageError` when it is cut off or damaged. Skips formats that are always decoded.
 */
export async function requireWhole(image: Blob, format: ImageHeader["format"]): Promise<void> {
  using cursor = new ByteCursor(image);
  await WALKS[format]?.(cursor);
}

const WALKS: Readonly<Partial<Record<ImageHeader["format"], (cursor: ByteCursor) => Promise<void>>>> = {
  png: walkPng,
  jpeg: walkJpeg,
  webp: walkWebp,
  gif: walkGif,
  heic: walkHeif,
  avif: walkHeif,
};
