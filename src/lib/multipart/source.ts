import { detachBuffer } from "../detach-buffer.ts";
import { yieldToEventLoop } from "../waiting.ts";
import { MultipartError } from "./error.ts";

const MAX_PREAMBLE_BYTES = 8 * 1024;
const MAX_PADDING_BYTES = 256;
const WINDOW_BYTES = 256 * 1024;
const LINE_END = Buffer.from("\r\n");
const HEADER_END = Buffer.from("\r\n\r\n");
const DASHES = Buffer.from("--");
const EMPTY = new Uint8Array(0);

/** The bytes of a multipart body, split at its boundaries. Only one chunk and a fixed window are in memory. */
export class MultipartSource {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #delimiter: Buffer;
  readonly #window = Buffer.allocUnsafeSlow(WINDOW_BYTES);
  /** The part of the window that contains unread bytes. */
  #data: Buffer;
  /** The chunk received last. Its first `#used` bytes have been copied to the window. */
  #chunk: Uint8Array = EMPTY;
  #used = 0;
  #received = 0;
  readonly #maxBodyBytes: number;

  constructor(body: AsyncIterable<Uint8Array>, boundary: string, maxBodyBytes: number) {
    this.#maxBodyBytes = maxBodyBytes;
    this.#chunks = body[Symbol.asyncIterator]();
    this.#delimiter = Buffer.from(`\r\n--${boundary}`);
    // The window begins with a line break, because every boundary must follow a line break, even the first boundary.
    this.#data = this.#window.subarray(0, LINE_END.copy(this.#window));
  }

  /** Reads to the byte after the first boundary. */
  async skipPreamble(): Promise<void> {
    let skipped = 0;
    await this.readContent((bytes) => {
      skipped += bytes.byteLength;
      if (skipped > MAX_PREAMBLE_BYTES) throw new MultipartError("malformed");
    });
  }

  /** Reads the bytes after a boundary. Returns true at the end of the form, false before another part. */
  async isAtEnd(): Promise<boolean> {
    await this.#need(2);
    if (this.#data.subarray(0, 2).equals(DASHES)) {
      await this.#skipEpilogue();
      return true;
    }
    const padding = await this.#readUntil(LINE_END, MAX_PADDING_BYTES);
    if (padding.some((byte) => byte !== 0x20 && byte !== 0x09)) throw new MultipartError("malformed");
    return false;
  }

  /** Reads the header lines of a part, without the empty line that ends them. */
  readHeader(maxBytes: number): Promise<Buffer> {
    return this.#readUntil(HEADER_END, maxBytes);
  }

  /** Passes the content up to the next boundary to `sink` in pieces. A piece is valid until `sink` settles. */
  async readContent(sink: (bytes: Buffer) => Promise<void> | undefined | void): Promise<void> {
    for (;;) {
      const end = this.#data.indexOf(this.#delimiter);
      const safe = end >= 0 ? end : Math.max(0, this.#data.byteLength - this.#delimiter.byteLength + 1);
      if (safe > 0) {
        const taken = sink(this.#data.subarray(0, safe));
        if (taken) await taken;
      }
      this.#data = this.#data.subarray(end >= 0 ? end + this.#delimiter.byteLength : safe);
      if (end >= 0) return;
      await this.#fill();
    }
  }

  /** Releases the body. Cancels it when it was not read completely. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  async #readUntil(delimiter: Buffer, maxBytes: number): Promise<Buffer> {
    for (;;) {
      const end = this.#data.indexOf(delimiter);
      if (end > maxBytes || (end < 0 && this.#data.byteLength > maxBytes + delimiter.byteLength))
        throw new MultipartError("malformed");
      if (end >= 0) {
        // The bytes are copied, because the window will be overwritten.
        const bytes = Buffer.from(this.#data.subarray(0, end));
        this.#data = this.#data.subarray(end + delimiter.byteLength);
        return bytes;
      }
      await this.#fill();
    }
  }

  async #need(byteLength: number): Promise<void> {
    while (this.#data.byteLength < byteLength) await this.#fill();
  }

  /** Reads the bytes after the form and ignores them, so that the connection can be reused. */
  async #skipEpilogue(): Promise<void> {
    do this.#data = this.#window.subarray(0, 0);
    while (await this.#pull());
  }

  async #fill(): Promise<void> {
    if (!(await this.#pull())) throw new MultipartError("malformed");
  }

  /** Moves the unread bytes to the window's beginning and appends more of the body. Returns false at the body's end. */
  async #pull(): Promise<boolean> {
    if (this.#used === this.#chunk.byteLength && !(await this.#pullChunk())) return false;
    const yielded = yieldToEventLoop();
    if (yielded) await yielded;
    const kept = this.#data.copy(this.#window);
    const added = Math.min(this.#chunk.byteLength - this.#used, WINDOW_BYTES - kept);
    this.#window.set(this.#chunk.subarray(this.#used, this.#used + added), kept);
    this.#data = this.#window.subarray(0, kept + added);
    this.#used += added;
    if (this.#used === this.#chunk.byteLength) this.#drop();
    return true;
  }

  async #pullChunk(): Promise<boolean> {
    const next = await this.#chunks.next();
    if (next.done === true) return false;
    const chunk = next.value;
    this.#received += chunk.byteLength;
    if (this.#received > this.#maxBodyBytes) throw new MultipartError("body_too_large");
    this.#chunk = chunk;
    return true;
  }

  #drop(): void {
    detachBuffer(this.#chunk);
    this.#chunk = EMPTY;
    this.#used = 0;
  }
}
