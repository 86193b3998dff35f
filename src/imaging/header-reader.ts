import type { ReferenceImage } from "../domain/image.ts";
import { BlobReader } from "../lib/sliced-stream.ts";
import { yieldToEventLoop } from "../lib/waiting.ts";

/**
 * Reads parts of a blob that belong to its header, and skips the data between them. The total number of bytes is
 * limited, so that a damaged header cannot cause endless reading.
 */
export interface HeaderReader {
  readonly size: number;
  /**
   * Returns `length` bytes at `offset`. Throws an `UnreadableImageError` beyond the end of the blob or when the limit
   * of bytes is reached.
   */
  bytes(offset: number, length: number): Promise<DataView>;
  /** Returns `length` bytes at `offset`. Returns null where `bytes` throws. */
  peek(offset: number, length: number): Promise<DataView | null>;
}

/** Properties of a picture, as read from its header. */
export interface ImageHeader {
  format: ReferenceImage["format"];
  /** Width in pixels of the displayed picture, after the Exif orientation is applied. */
  width: number;
  height: number;
  /** Number of frames; 1 for a still picture. A number above 1 is not always exact. */
  frames: number;
  /** True when the picture may have transparent pixels. */
  hasAlpha: boolean;
  /** Exif orientation of the stored pixels. Absent when the stored pixels are upright. */
  orientation?: Orientation;
  /** True for a WebP with lossless compression. */
  isLossless?: true;
  /**
   * True for a HEIC or AVIF whose colour code points mean Display P3. A colour profile in the file takes precedence.
   */
  isDisplayP3?: true;
  /** True for colours or depths that the built-in codec cannot read or decodes incorrectly. */
  isUnusual?: true;
}

/**
 * Exif orientations except 1, which means upright. 2 to 4 mirror the picture or rotate it by 180 degrees. 5 to 8 also
 * swap width and height.
 */
export type Orientation = 2 | 3 | 4 | 5 | 6 | 7 | 8;

/** True when the displayed picture has width and height swapped. */
export function isSideways(orientation: Orientation | undefined): boolean {
  return orientation !== undefined && orientation >= 5;
}

/** The error for bytes that are not a readable picture. Its message continues a sentence about the image. */
export class UnreadableImageError extends Error {
  override readonly name = "UnreadableImageError";
}

/**
 * Size of a window that is far from the previous window. A nearer window is twice as large as the previous window, up
 * to a maximum.
 */
const MIN_WINDOW_BYTES = 4096;
const MAX_WINDOW_BYTES = 256 * 1024;
/** Error message for a picture whose header is valid but whose data cannot be decoded. */
export const UNDECODABLE = "cannot be decoded; save it anew as PNG or JPEG";

/**
 * Maximum number of bytes that are read. It is more than any input picture has, because metadata may be at any offset.
 */
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

/** Reads the bytes of a blob once from start to end, one window at a time. Disposing the cursor frees the window. */
export class ByteCursor implements Disposable {
  readonly #reader: BlobReader;
  #window = new Uint8Array(0);
  /** Offset in the blob at which the window starts. */
  #start = 0;
  #at = 0;

  constructor(blob: Blob) {
    this.#reader = new BlobReader(blob, WINDOW_BYTES);
  }

  get size(): number {
    return this.#reader.size;
  }

  /** Offset of the next byte. */
  get offset(): number {
    return this.#start + this.#at;
  }

  /** Returns the next `length` bytes in a view that is valid until the next call; null when fewer bytes are left. */
  async take(length: number): Promise<DataView | null> {
    if (this.#window.length - this.#at < length && !(await this.#load(length))) return null;
    const { buffer, byteOffset } = this.#window;
    this.#at += length;
    return new DataView(buffer, byteOffset + this.#at - length, length);
  }

  /** Returns the next byte; null at the end of the blob. */
  async byte(): Promise<number | null> {
    if (this.#at >= this.#window.length && !(await this.#load(1))) return null;
    const byte = this.#window[this.#at] ?? null;
    this.#at += 1;
    return byte;
  }

  /** Skips `length` bytes without reading them. Returns false when the blob has fewer bytes left. */
  advance(length: number): boolean {
    this.#at += length;
    return this.offset <= this.size;
  }

  /** Yields the next `length` bytes in pieces, or fewer at the blob's end. Each piece is valid until the next call. */
  async *pieces(length: number): AsyncGenerator<Uint8Array> {
    for (let left = length; left > 0;) {
      if (this.#at >= this.#window.length && !(await this.#load(1))) return;
      const piece = this.#window.subarray(this.#at, this.#at + left);
      this.#at += piece.length;
      left -= piece.length;
      yield piece;
    }
  }

  /**
   * Finds the next byte with this value that is not followed by `except`, and moves to the byte after it. Returns false
   * when there is no such byte.
   */
  async seek(value: number, except: number): Promise<boolean> {
    for (;;) {
      const window = this.#window;
      let found = window.indexOf(value, this.#at);
      while (found >= 0 && window[found + 1] === except) found = window.indexOf(value, found + 2);
      this.#at = Math.max(this.#at, found < 0 ? window.length : found);
      // The byte after the found byte may be in the next window.
      if (found >= 0 && found + 1 < window.length) {
        this.#at += 1;
        return true;
      }
      if (!(await this.#load(2))) return false;
    }
  }

  [Symbol.dispose](): void {
    this.#window = new Uint8Array(0);
    this.#reader[Symbol.dispose]();
  }

  /** Loads a window that starts at the current byte. Returns false when the window has fewer than `length` bytes. */
  async #load(length: number): Promise<boolean> {
    const { offset } = this;
    if (Math.min(this.size - offset, WINDOW_BYTES) < length) return false;
    const yielded = yieldToEventLoop();
    if (yielded) await yielded;
    this.#window = await this.#reader.read(offset);
    this.#start = offset;
    this.#at = 0;
    return this.#window.length >= length;
  }
}

const WINDOW_BYTES = 512 * 1024;
