import type { ByteReader, ByteStream, ReadResult } from "./byte-stream.ts";
import { yieldToEventLoop } from "./waiting.ts";

/** Any processing of so many bytes takes at most a few milliseconds. */
const SLICE_BYTES = 16 * 1024;

/**
 * Yields the same bytes in slices and lets other requests run between them: one read may return half a megabyte of
 * tiny events.
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
