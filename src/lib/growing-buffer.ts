const NOTHING = Buffer.alloc(0);
const FIRST_BYTES = 4 * 1024;

/**
 * Bytes that come in pieces, copied into one buffer that doubles when it is full: a list of pieces of a byte would take
 * over a hundred bytes for each.
 */
export class GrowingBuffer {
  #buffer = NOTHING;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(piece: Uint8Array): void {
    this.#makeSpace(piece.length);
    this.#buffer.set(piece, this.#length);
    this.#length += piece.length;
  }

  /** The same for a few bytes of others, for which a view would cost more than they do. */
  appendShort(bytes: Uint8Array, from: number, to: number): void {
    this.#makeSpace(to - from);
    for (let at = from; at < to; at += 1) this.#buffer[this.#length++] = bytes[at] ?? 0;
  }

  /** All of them, which are the caller's own from now on. */
  take(): Buffer<ArrayBuffer> {
    const bytes = this.#buffer.subarray(0, this.#length);
    this.#buffer = NOTHING;
    this.#length = 0;
    return bytes;
  }

  #makeSpace(byteLength: number): void {
    const length = this.#length + byteLength;
    if (length > this.#buffer.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#buffer.length, FIRST_BYTES));
      grown.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = grown;
    }
  }
}
