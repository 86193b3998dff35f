import type { ReferenceImage } from "../domain/image.ts";

/**
 * Reads the first bytes of a blob and skips what is not needed, one window at a time. The total is bounded, so that no
 * header can make it read a whole file.
 */
export interface HeaderReader {
  /** Bytes in the whole blob. */
  readonly size: number;
  /** Reads `length` bytes at `offset`. Throws an `UnreadableImageError` past the end of the blob or of the budget. */
  bytes(offset: number, length: number): Promise<DataView>;
  /** Reads `length` bytes at `offset`; null past the end of the blob or of the budget. */
  peek(offset: number, length: number): Promise<DataView | null>;
}

/** The contents of a picture's header. */
export interface ImageHeader {
  format: ReferenceImage["format"];
  /** Pixels as displayed, after an Exif rotation. */
  width: number;
  height: number;
  /** 1 for a still picture; higher values mean at least two. */
  frames: number;
  /** True when it may have transparent pixels. */
  hasAlpha: boolean;
  /** The Exif turn of the stored pixels for display; absent when they are upright. */
  orientation?: Orientation;
  /** True for a WebP that was encoded without loss. */
  isLossless?: true;
  /** True for colours or depths of the format that the built-in codec misreads or does not read. */
  isUnusual?: true;
}

/** Exif orientations but 1, which is upright: 2 to 4 mirror or turn by a half, 5 to 8 swap width and height. */
export type Orientation = 2 | 3 | 4 | 5 | 6 | 7 | 8;

/** The bytes are not a readable picture; the message completes the sentence "the image …". */
export class UnreadableImageError extends Error {
  override readonly name = "UnreadableImageError";
}

/** Bytes of a window after a jump; reading on doubles it. */
const MIN_WINDOW_BYTES = 4096;
const MAX_WINDOW_BYTES = 256 * 1024;
/** Message for a picture whose header is sound. */
export const UNDECODABLE = "cannot be decoded; save it anew as PNG or JPEG";

/** Above the largest reference, so that metadata anywhere in it is skipped or read. */
const MAX_BYTES_READ = 40 * 2 ** 20;

export function createHeaderReader(blob: Blob): HeaderReader {
  let window = new DataView(new ArrayBuffer(0));
  let start = 0;
  let windowBytes = MIN_WINDOW_BYTES;
  let bytesLeft = MAX_BYTES_READ;

  async function peek(offset: number, length: number): Promise<DataView | null> {
    if (length > MIN_WINDOW_BYTES) throw new RangeError("a header is read in smaller pieces");
    if (offset + length > blob.size) return null;
    if (offset < start || offset + length > start + window.byteLength) {
      const isNear = start <= offset && offset <= start + window.byteLength + MIN_WINDOW_BYTES;
      windowBytes = isNear ? Math.min(windowBytes * 2, MAX_WINDOW_BYTES) : MIN_WINDOW_BYTES;
      const end = Math.min(offset + windowBytes, blob.size);
      if (end - offset > bytesLeft) return null;
      bytesLeft -= end - offset;
      window = new DataView(await blob.slice(offset, end).arrayBuffer());
      start = offset;
      if (window.byteLength < length) return null;
    }
    return new DataView(window.buffer, offset - start, length);
  }

  return {
    size: blob.size,
    peek,
    async bytes(offset, length) {
      const view = await peek(offset, length);
      if (!view) throw new UnreadableImageError("is cut off, or its header is too long");
      return view;
    },
  };
}

/** Returns `length` bytes of a view as Latin-1 text. */
export function textAt(view: DataView, offset: number, length: number): string {
  return String.fromCharCode(...new Uint8Array(view.buffer, view.byteOffset + offset, length));
}
