const NOTHING = Buffer.alloc(0);
const FIRST_BYTES = 4 * 1024;

/**
 * Collects bytes in one buffer, which doubles when it is full. A list of one-byte pieces would take over a hundred
 * bytes for each piece.
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

  /** Appends a few bytes of another buffer. For so few bytes, making a view costs more than a copy. */
  appendShort(bytes: Uint8Array, from: number, to: number): void {
    this.#makeSpace(to - from);
    for (let at = from; at < to; at += 1) this.#buffer[this.#length++] = bytes[at] ?? 0;
  }

  /** Returns all bytes. From now on the bytes belong to the caller. */
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
