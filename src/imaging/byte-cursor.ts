import { BlobReader } from "../lib/sliced-stream.ts";
import { yieldToEventLoop } from "../lib/waiting.ts";

/** Walks the bytes of a blob once, from its start to its end, one window at a time. Dispose it to free the window. */
export class ByteCursor implements Disposable {
  readonly #reader: BlobReader;
  #window = new Uint8Array(0);
  /** Offset of the window in the blob. */
  #start = 0;
  #at = 0;

  constructor(blob: Blob) {
    this.#reader = new BlobReader(blob, WINDOW_BYTES);
  }

  /** Bytes in the whole blob. */
  get size(): number {
    return this.#reader.size;
  }

  /** Offset of the next byte. */
  get offset(): number {
    return this.#start + this.#at;
  }

  /** Takes the next `length` bytes as a view that is valid until the next step; null when fewer are left. */
  async take(length: number): Promise<DataView | null> {
    if (this.#window.length - this.#at < length && !(await this.#load(length))) return null;
    const { buffer, byteOffset } = this.#window;
    this.#at += length;
    return new DataView(buffer, byteOffset + this.#at - length, length);
  }

  /** Takes the next byte; null at the end. */
  async byte(): Promise<number | null> {
    if (this.#at >= this.#window.length && !(await this.#load(1))) return null;
    const byte = this.#window[this.#at] ?? null;
    this.#at += 1;
    return byte;
  }

  /** Skips `length` bytes without reading them. Returns false when there are fewer. */
  advance(length: number): boolean {
    this.#at += length;
    return this.offset <= this.size;
  }

  /** Takes the next `length` bytes and yields them in pieces, each valid until the next step; fewer at the end. */
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
   * Moves behind the next byte of this value that is followed by another one than `except`. Returns false when there
   * is none.
   */
  async seek(value: number, except: number): Promise<boolean> {
    for (;;) {
      const window = this.#window;
      let found = window.indexOf(value, this.#at);
      while (found >= 0 && window[found + 1] === except) found = window.indexOf(value, found + 2);
      this.#at = Math.max(this.#at, found < 0 ? window.length : found);
      // The byte that follows may be in the next window.
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

  /** Reads a window that starts at the current byte. Returns false when it has fewer than `length` bytes. */
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
