import { createInflate, type Inflate } from "node:zlib";
import { detachBuffer } from "../lib/detach-buffer.ts";
import { ByteCursor } from "./byte-cursor.ts";
import { textAt } from "./header-reader.ts";

/**
 * Whether a PNG of a sound structure (`walkPng`) has all its pixels, found by unpacking them to nowhere: in memory that
 * does not grow with the picture, where the codec needs the file and four bytes a pixel. False where that does not
 * settle it, so that the codec decides: damaged pixels, bytes behind them, and palettes, interlaced pictures and colour
 * profiles, for which more than their length counts. Rejects with the signal's reason.
 * Source: PNG specification, third edition, chapters 5, 7 and 9.
 */
export async function hasAllPixels(image: Blob, signal?: AbortSignal): Promise<boolean> {
  using cursor = new ByteCursor(image);
  cursor.advance(SIGNATURE_BYTES);
  const header = await cursor.take(CHUNK_FRAME_BYTES + HEADER_BYTES);
  const rowBytes = header ? rowBytesOf(header) : 0;
  if (!header || rowBytes === 0) return false;
  using unpacked = new UnpackedRows(rowBytes, header.getUint32(12));
  try {
    return (await unpackAll(cursor, unpacked, signal)) && (await unpacked.areWhole());
  } catch (error) {
    if (!(error instanceof PixelError)) throw error;
    return false;
  }
}

/** Unpacks the pixels of one row of chunks. False for more of them behind other chunks, and for chunks to be decoded. */
async function unpackAll(
  cursor: ByteCursor,
  unpacked: UnpackedRows,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  for (let previous = ""; ;) {
    const head = await cursor.take(8);
    const type = head && textAt(head, 4, 4);
    if (!head || type === null) return false;
    if (type === "IEND") return true;
    const length = head.getUint32(0);
    if (type === "IDAT") {
      if (previous !== type && unpacked.hasBegun) return false;
      for await (const piece of cursor.pieces(length)) {
        signal?.throwIfAborted();
        await unpacked.add(piece);
      }
    } else if (UNSETTLED.test(type) || !cursor.advance(length)) return false;
    if (!cursor.advance(CHECKSUM_BYTES)) return false;
    previous = type;
  }
}

const SIGNATURE_BYTES = 8;
const HEADER_BYTES = 13;
const CHECKSUM_BYTES = 4;
const CHUNK_FRAME_BYTES = 8 + CHECKSUM_BYTES;

/** Chunks that may be wrong though their checksums are right, and those that no decoder may skip. */
const UNSETTLED = /^(?:tRNS|iCCP|[A-Z].*)$/s;

/** Samples of a pixel and their depths by colour type: grey, colour, grey and colour with alpha. */
const LAYOUTS: Readonly<Record<number, { samples: number; depths: readonly number[] }>> = {
  0: { samples: 1, depths: [1, 2, 4, 8, 16] },
  2: { samples: 3, depths: [8, 16] },
  4: { samples: 2, depths: [8, 16] },
  6: { samples: 4, depths: [8, 16] },
};

/** Bytes of an unpacked row with the byte of its filter; 0 for what is not settled. `header` is the first chunk. */
function rowBytesOf(header: DataView): number {
  const [depth, colourType] = [header.getUint8(16), header.getUint8(17)];
  const layout = LAYOUTS[colourType];
  const isUsual = header.getUint32(0) === HEADER_BYTES && textAt(header, 4, 4) === "IHDR";
  // Methods of compressing and filtering other than the first, and interlaced rows.
  const hasOtherMethods = header.getUint8(18) + header.getUint8(19) + header.getUint8(20) > 0;
  if (!isUsual || hasOtherMethods || !layout?.depths.includes(depth)) return 0;
  return 1 + Math.ceil((header.getUint32(8) * layout.samples * depth) / 8);
}

class PixelError extends Error {
  override readonly name = "PixelError";
}

/** Each batch is handed to another thread, which gives back pieces of at most this size. */
const BATCH_BYTES = 512 * 1024;
const LAST_FILTER = 4;

/** Unpacks rows and counts them. `add` and `areWhole` throw a `PixelError` for damaged data. */
class UnpackedRows implements Disposable {
  readonly #inflate: Inflate = createInflate({ chunkSize: BATCH_BYTES });
  readonly #batch = Buffer.allocUnsafeSlow(BATCH_BYTES);
  #used = 0;
  #packedBytes = 0;
  #byteLength = 0;
  #failure: PixelError | undefined;
  /** What the unpacker wrote last, and may go on to fill. */
  #latest = new Uint8Array(0);
  /** The unpacker ends by itself at the end of the packed data, whatever follows, and then reports nothing more. */
  readonly #ended = Promise.withResolvers<void>();
  readonly #rowBytes: number;
  readonly #wantedBytes: number;

  constructor(rowBytes: number, rows: number) {
    this.#rowBytes = rowBytes;
    this.#wantedBytes = rowBytes * rows;
    this.#inflate.on("data", (bytes: Buffer<ArrayBuffer>) => this.#check(bytes));
    this.#inflate.on("error", (cause) => this.#fail(new PixelError("packed wrongly", { cause })));
    for (const event of ["end", "close"]) this.#inflate.on(event, this.#ended.resolve);
  }

  /** Whether bytes were added. */
  get hasBegun(): boolean {
    return this.#packedBytes > 0;
  }

  /** Copies the bytes, and unpacks them when there are many: some programs write pixels in small chunks. */
  async add(bytes: Uint8Array): Promise<void> {
    this.#packedBytes += bytes.length;
    for (let from = 0; from < bytes.length;) {
      const taken = Math.min(bytes.length - from, BATCH_BYTES - this.#used);
      this.#batch.set(bytes.subarray(from, from + taken), this.#used);
      this.#used += taken;
      from += taken;
      if (this.#used === BATCH_BYTES) await this.#flush();
    }
  }

  /** Whether these were all rows, and nothing follows them. Call it once, at the end. */
  async areWhole(): Promise<boolean> {
    await this.#flush();
    this.#inflate.end();
    await this.#ended.promise;
    if (this.#failure) throw this.#failure;
    return this.#byteLength === this.#wantedBytes && this.#inflate.bytesWritten === this.#packedBytes;
  }

  [Symbol.dispose](): void {
    this.#inflate.destroy();
    detachBuffer(this.#batch);
  }

  async #flush(): Promise<void> {
    const batch = this.#batch.subarray(0, this.#used);
    this.#used = 0;
    const written = Promise.withResolvers<void>();
    this.#inflate.write(batch, () => written.resolve());
    await Promise.race([written.promise, this.#ended.promise]);
    if (this.#failure) throw this.#failure;
    if (this.#inflate.readableEnded) throw new PixelError("bytes behind the pixels");
  }

  /** Every row begins with its filter; more than the rows is not unpacked to its end. */
  #check(bytes: Buffer<ArrayBuffer>): void {
    const into = this.#byteLength % this.#rowBytes;
    this.#byteLength += bytes.length;
    if (this.#byteLength > this.#wantedBytes) this.#fail(new PixelError("too many rows"));
    for (let at = into === 0 ? 0 : this.#rowBytes - into; at < bytes.length; at += this.#rowBytes)
      if ((bytes[at] ?? 0) > LAST_FILTER) this.#fail(new PixelError("unknown filter"));
    // Memory that is given back at once is used again; that of the collector is new, which costs as much as unpacking.
    // Small pieces may lie in memory that others use, too.
    if (bytes.buffer !== this.#latest.buffer && this.#latest.length === BATCH_BYTES)
      detachBuffer(this.#latest);
    this.#latest = new Uint8Array(bytes.buffer);
  }

  #fail(failure: PixelError): void {
    this.#failure ??= failure;
    this.#inflate.destroy();
    this.#ended.resolve();
  }
}
