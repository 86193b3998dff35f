import { MultipartError } from "./error.ts";

const MAX_PREAMBLE_BYTES = 8 * 1024;
const MAX_PADDING_BYTES = 256;
const PIECE_BYTES = 256 * 1024;
const LINE_END = Buffer.from("\r\n");
const HEADER_END = Buffer.from("\r\n\r\n");
const DASHES = Buffer.from("--");

/** The bytes of a multipart body, cut at its boundaries. Holds no more than one chunk and what a boundary needs. */
export class MultipartSource {
  private readonly chunks: AsyncIterator<Uint8Array>;
  private readonly delimiter: Buffer;
  /** Begins with a line end that is not in the body, so that the first boundary looks like all others. */
  private data: Buffer = LINE_END;
  private received = 0;

  constructor(
    body: AsyncIterable<Uint8Array>,
    boundary: string,
    private readonly maxBodyBytes: number,
    private readonly pause: () => Promise<void> | undefined,
  ) {
    this.chunks = body[Symbol.asyncIterator]();
    this.delimiter = Buffer.from(`\r\n--${boundary}`);
  }

  /** Reads to just after the first boundary. */
  async skipPreamble(): Promise<void> {
    let skipped = 0;
    for await (const bytes of this.readContent()) {
      skipped += bytes.byteLength;
      if (skipped > MAX_PREAMBLE_BYTES) throw new MultipartError("malformed");
    }
  }

  /** Reads what follows a boundary: the end of the form, or the line end before the next part. */
  async isAtEnd(): Promise<boolean> {
    await this.need(2);
    if (this.data.subarray(0, 2).equals(DASHES)) {
      await this.skipEpilogue();
      return true;
    }
    const padding = await this.readUntil(LINE_END, MAX_PADDING_BYTES);
    if (padding.some((byte) => byte !== 0x20 && byte !== 0x09)) throw new MultipartError("malformed");
    return false;
  }

  /** The header lines of a part, without the empty line that ends them. */
  readHeader(maxBytes: number): Promise<Buffer> {
    return this.readUntil(HEADER_END, maxBytes);
  }

  /** The content up to the next boundary, in pieces that are good until the next is asked for. */
  async *readContent(): AsyncGenerator<Buffer, void, undefined> {
    for (;;) {
      const end = this.data.indexOf(this.delimiter);
      const safe = end >= 0 ? end : Math.max(0, this.data.byteLength - this.delimiter.byteLength + 1);
      for (let from = 0; from < safe; from += PIECE_BYTES) {
        yield this.data.subarray(from, Math.min(safe, from + PIECE_BYTES));
        await this.pause();
      }
      this.data = this.data.subarray(end >= 0 ? end + this.delimiter.byteLength : safe);
      if (end >= 0) return;
      await this.fill();
    }
  }

  /** Lets go of the body; the sender is told to stop when it was not read to its end. */
  async close(): Promise<void> {
    await this.chunks.return?.();
  }

  private async readUntil(mark: Buffer, maxBytes: number): Promise<Buffer> {
    for (;;) {
      const end = this.data.indexOf(mark);
      if (end > maxBytes || (end < 0 && this.data.byteLength > maxBytes + mark.byteLength))
        throw new MultipartError("malformed");
      if (end >= 0) {
        const bytes = this.data.subarray(0, end);
        this.data = this.data.subarray(end + mark.byteLength);
        return bytes;
      }
      await this.fill();
    }
  }

  private async need(byteLength: number): Promise<void> {
    while (this.data.byteLength < byteLength) await this.fill();
  }

  /** The epilogue means nothing, but is read so that the connection can be used again. */
  private async skipEpilogue(): Promise<void> {
    this.data = Buffer.alloc(0);
    while (await this.pull()) this.data = Buffer.alloc(0);
  }

  private async fill(): Promise<void> {
    if (!(await this.pull())) throw new MultipartError("malformed");
  }

  private async pull(): Promise<boolean> {
    await this.pause();
    const next = await this.chunks.next();
    if (next.done === true) return false;
    const chunk = next.value;
    this.received += chunk.byteLength;
    if (this.received > this.maxBodyBytes) throw new MultipartError("body_too_large");
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    this.data = this.data.byteLength === 0 ? bytes : Buffer.concat([this.data, bytes]);
    return true;
  }
}
