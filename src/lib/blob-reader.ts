import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { detachBuffer } from "./detach-buffer.ts";
import { spoolPathOf } from "./spool/name.ts";

/**
 * Reads a blob in pieces, each of which is valid until the next. A spool's file was written a moment ago and lies in
 * the system's cache. So the calling thread reads it, into one buffer: another thread with new memory costs five times
 * as much as the copy. Await `yieldToEventLoop` between pieces. Disposing frees the buffer at once.
 */
export class BlobReader implements Disposable {
  /** Bytes in the whole blob. */
  readonly size: number;
  readonly #blob: Blob;
  readonly #maxPieceBytes: number;
  #buffer = new Uint8Array(0);
  /** The descriptor of a spool's file; undefined before the first piece, null for every other blob. */
  #file: number | null | undefined;

  constructor(blob: Blob, maxPieceBytes: number) {
    this.#blob = blob;
    // Each reading of a file's `size` is a system call.
    this.size = blob.size;
    this.#maxPieceBytes = maxPieceBytes;
  }

  /** Reads the bytes from `start` on: at most one piece, fewer at the end. Rejects when the file cannot be read. */
  async read(start: number): Promise<Uint8Array<ArrayBuffer>> {
    const length = Math.min(this.size - start, this.#maxPieceBytes);
    if (this.#file === undefined) this.#file = openWhole(this.#blob, this.size);
    if (this.#file === null) {
      detachBuffer(this.#buffer);
      this.#buffer = new Uint8Array(await this.#blob.slice(start, start + length).arrayBuffer());
      return this.#buffer;
    }
    if (this.#buffer.length < length) {
      detachBuffer(this.#buffer);
      this.#buffer = new Uint8Array(length);
    }
    const piece = this.#buffer.subarray(0, length);
    readWhole(this.#file, piece, start);
    return piece;
  }

  [Symbol.dispose](): void {
    if (typeof this.#file === "number") closeSync(this.#file);
    this.#file = null;
    detachBuffer(this.#buffer);
    this.#buffer = new Uint8Array(0);
  }
}

/** Opens a blob that is a complete file of a spool; returns null for every other one, such as a part of a file. */
function openWhole(blob: Blob, size: number): number | null {
  const path = spoolPathOf(blob);
  if (path === null) return null;
  const file = openSync(path, "r");
  if (fstatSync(file).size === size) return file;
  closeSync(file);
  return null;
}

function readWhole(file: number, piece: Uint8Array, start: number): void {
  for (let from = 0; from < piece.length;) {
    const taken = readSync(file, piece, from, piece.length - from, start + from);
    if (taken === 0) throw new Error("a temporary file was cut");
    from += taken;
  }
}
