import type { Orientation } from "../header-reader.ts";
import { pngFromThread } from "../picture-thread.ts";

/** The change that a thread makes to a PNG. All changes but `reduce` keep the PNG's channels and depth. */
export type PngWork =
  /** Removes unneeded channels and bits: the built-in codec always writes four channels of eight bits. */
  | { kind: "reduce"; hasAlpha: boolean }
  /** Turns the picture upright. */
  | { kind: "turn"; orientation: Orientation }
  /** Keeps six bits of each colour. */
  | { kind: "coarsen" };

/**
 * Maximum number of pixels of four bytes that a thread changes. The thread needs memory for up to three copies of the
 * pixels, so a larger picture would take more memory than a picture in the built-in codec.
 */
export const MAX_PNG_PIXELS = 2 ** 24;

/** The message that the thread gets. */
export interface PngRequest {
  png: Uint8Array;
  work: PngWork;
}

/**
 * Encodes a PNG again in another thread, which chooses a filter for each row. The bytes of `png` are transferred to the
 * thread. Throws an `UnreadableImageError` for a damaged picture. Also throws it when `coarsen` is requested for a
 * picture with a depth other than 8, with a palette or with `tRNS`.
 */
export async function encodePng(png: Uint8Array, work: PngWork, signal?: AbortSignal): Promise<Blob> {
  const request: PngRequest = { png, work };
  return await pngFromThread("src/imaging/png/png-thread.ts", request, png, signal);
}
