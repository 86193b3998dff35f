import type { Orientation } from "../header-reader.ts";
import { pngFromThread } from "../picture-thread.ts";

/** The change that a thread makes of a PNG. All but `reduce` keep its channels and depth. */
export type PngWork =
  /** Stores four channels of eight bits, as the built-in codec does, in as few as the picture needs. */
  | { kind: "reduce"; hasAlpha: boolean }
  /** Turns the picture upright. */
  | { kind: "turn"; orientation: Orientation }
  /** Keeps six bits of each colour. */
  | { kind: "coarsen" };

/** The message that the thread gets. */
export interface PngRequest {
  png: Uint8Array;
  work: PngWork;
}

/**
 * Encodes a PNG again in another thread, which chooses a filter for each row. The bytes of `png` move to the thread.
 * Throws an `UnreadableImageError` for a damaged picture, and for one that cannot be coarsened: with 16 bits a channel,
 * a palette, or a colour that means transparency.
 */
export async function encodePng(png: Uint8Array, work: PngWork, signal?: AbortSignal): Promise<Blob> {
  const request: PngRequest = { png, work };
  return await pngFromThread("src/imaging/png/png-thread.ts", request, png, signal);
}
