import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { ByteReader, ByteStream, ReadResult } from "./byte-stream.ts";
import { detachBuffer } from "./detach-buffer.ts";
import { spoolPathOf } from "./spool/name.ts";
import { yieldToEventLoop } from "./waiting.ts";

/** Number of bytes of a slice. Processing this many takes at most a few milliseconds. */
const SLICE_BYTES = 16 * 1024;

/**
 * Yields the bytes of another stream in slices. Other requests can run between two slices: one read may return half a
 * megabyte of tiny events, which take long to process.
 */
export class SlicedStream implements ByteStream {
  readonly #source: ByteStream;
  #reader: ReturnType<ByteStream["getReader"]> | null = null;
  #rest: Uint8Array<ArrayBuffer> | null = null;

  constructor(source: ByteStream) {
    this.#source = source;
  }

  getReader(): ByteReader & { cancel(): Promise<void> } {
    this.#reader = this.#source.getReader();
    return this;
  }

  read(): Promise<ReadResult> {
    if (this.#rest) return this.#readRest(this.#rest);
    this.#reader ??= this.#source.getReader();
    return this.#reader.read().then(this.#begin);
  }

  cancel(): Promise<void> {
    this.#rest = null;
    return this.#reader ? this.#reader.cancel() : this.#source.cancel();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    try {
      for (let next = await this.read(); next.value; next = await this.read()) yield next.value;
    } finally {
      await this.cancel();
    }
  }

  readonly #begin = (result: ReadResult): ReadResult =>
    result.value && result.value.length > SLICE_BYTES ? this.#slice(result.value) : result;

  async #readRest(rest: Uint8Array<ArrayBuffer>): Promise<ReadResult> {
    const yielded = yieldToEventLoop();
    if (yielded) await yielded;
    return this.#slice(rest);
  }

  #slice(bytes: Uint8Array<ArrayBuffer>): ReadResult {
    this.#rest = bytes.length > SLICE_BYTES ? bytes.subarray(SLICE_BYTES) : null;
    return { done: false, value: bytes.subarray(0, SLICE_BYTES) };
  }
}

/**
 * Reads a blob in pieces. A piece is valid until the next piece is read. A spool's file was written a moment ago and is
 * in the system's cache, so the calling thread reads it into one reused buffer. Reading it in another thread into new
 * memory would cost five times as much. Await `yieldToEventLoop` between pieces. Disposing frees the buffer at once.
 */
export class BlobReader implements Disposable {
  /** Number of bytes of the whole blob. */
  readonly size: number;
  readonly #blob: Blob;
  readonly #maxPieceBytes: number;
  #buffer = new Uint8Array(0);
  /** The descriptor of a spool's file; undefined before the first piece, null for any other blob. */
  #file: number | null | undefined;

  constructor(blob: Blob, maxPieceBytes: number) {
    this.#blob = blob;
    // The size is stored, because each access to a file's `size` is a system call.
    this.size = blob.size;
    this.#maxPieceBytes = maxPieceBytes;
  }

  /** Reads a piece that begins at `start`; the last piece may be shorter. Rejects when the file cannot be read. */
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

/** Opens a blob that is a complete file of a spool. Returns null for any other blob, such as a part of a file. */
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
