import { createInflate, type Inflate } from "node:zlib";
import { detachBuffer } from "../lib/detach-buffer.ts";
import { ByteCursor } from "./byte-cursor.ts";
import { textAt } from "./header-reader.ts";

/**
 * Whether a PNG of a sound structure (`walkPng`) has all its pixels, found by unpacking them to nowhere: in memory that
 * does not grow with the picture, and in less time than the codec takes, which makes colours of them.
 * False where that does not settle it: damaged pixels, and palettes, interlaced pictures and colour profiles, for which
 * more than their length counts. Rejects with the signal's reason.
 * Source: PNG specification, third edition, chapters 7 and 9.
 */
export async function hasAllPixels(image: Blob, signal?: AbortSignal): Promise<boolean> {
  const cursor = new ByteCursor(image);
  cursor.advance(SIGNATURE_BYTES);
  const header = await cursor.take(CHUNK_FRAME_BYTES + HEADER_BYTES);
  const rowBytes = header ? rowBytesOf(header) : 0;
  if (!header || rowBytes === 0) return false;
  const unpacked = new UnpackedRows(rowBytes, header.getUint32(12));
  try {
    for (;;) {
      const head = await cursor.take(8);
      const type = head && textAt(head, 4, 4);
      if (!head || type === null || UNSETTLED.has(type)) return false;
      if (type === "IEND") return await unpacked.areWhole();
      const length = head.getUint32(0);
      if (type === "IDAT") {
        for await (const piece of cursor.pieces(length)) {
          signal?.throwIfAborted();
          await unpacked.add(piece);
        }
      } else if (!cursor.advance(length)) return false;
      cursor.advance(CHECKSUM_BYTES);
    }
  } catch (error) {
    if (!(error instanceof PixelError)) throw error;
    return false;
  } finally {
    unpacked.close();
  }
}

const SIGNATURE_BYTES = 8;
const HEADER_BYTES = 13;
const CHECKSUM_BYTES = 4;
const CHUNK_FRAME_BYTES = 8 + CHECKSUM_BYTES;

/** Chunks that the codec reads and that may be wrong though their checksums are right. */
const UNSETTLED: ReadonlySet<string> = new Set(["PLTE", "tRNS", "iCCP", "cICP"]);

/** Samples of a pixel by colour type: grey, colour, grey and colour with alpha. */
const SAMPLES: Readonly<Record<number, number>> = { 0: 1, 2: 3, 4: 2, 6: 4 };

/** Bytes of an unpacked row with the byte of its filter; 0 of a palette or an interlaced picture. */
function rowBytesOf(header: DataView): number {
  const [width, depth, colourType] = [header.getUint32(8), header.getUint8(16), header.getUint8(17)];
  const samples = SAMPLES[colourType];
  const isInterlaced = header.getUint8(20) !== 0;
  return samples === undefined || isInterlaced ? 0 : 1 + Math.ceil((width * samples * depth) / 8);
}

class PixelError extends Error {
  override readonly name = "PixelError";
}

/** Large, because each is handed to another thread. */
const BATCH_BYTES = 512 * 1024;
const LAST_FILTER = 4;

/** Unpacks rows and counts them. `add` and `areWhole` throw a `PixelError` for damaged data. */
class UnpackedRows {
  readonly #inflate: Inflate = createInflate({ chunkSize: BATCH_BYTES });
  readonly #batch = Buffer.allocUnsafeSlow(BATCH_BYTES);
  #used = 0;
  #byteLength = 0;
  #failure: PixelError | undefined;
  #fail: ((failure: PixelError) => void) | undefined;
  readonly #rowBytes: number;
  readonly #wantedBytes: number;

  constructor(rowBytes: number, rows: number) {
    this.#rowBytes = rowBytes;
    this.#wantedBytes = rowBytes * rows;
    this.#inflate.on("data", (bytes: Buffer) => this.#check(bytes));
    this.#inflate.on("error", (cause) => this.#end(new PixelError("packed wrongly", { cause })));
  }

  /** Copies the bytes, and unpacks them when there are many: some programs write pixels in small chunks. */
  async add(bytes: Uint8Array): Promise<void> {
    for (let from = 0; from < bytes.length;) {
      const taken = Math.min(bytes.length - from, BATCH_BYTES - this.#used);
      this.#batch.set(bytes.subarray(from, from + taken), this.#used);
      this.#used += taken;
      from += taken;
      if (this.#used === BATCH_BYTES) await this.#flush();
    }
  }

  async areWhole(): Promise<boolean> {
    await this.#flush();
    await this.#settled((done) => {
      this.#inflate.once("end", done);
      this.#inflate.end();
    });
    return this.#byteLength === this.#wantedBytes;
  }

  close(): void {
    this.#inflate.destroy();
  }

  async #flush(): Promise<void> {
    const batch = this.#batch.subarray(0, this.#used);
    this.#used = 0;
    if (batch.length > 0) await this.#settled((done) => this.#inflate.write(batch, () => done()));
  }

  async #settled(start: (done: () => void) => void): Promise<void> {
    if (this.#failure) throw this.#failure;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#fail = reject;
    start(resolve);
    await promise;
    if (this.#failure) throw this.#failure;
  }

  /** Every row begins with its filter; more than the rows is not unpacked to its end. */
  #check(bytes: Buffer): void {
    const into = this.#byteLength % this.#rowBytes;
    this.#byteLength += bytes.length;
    if (this.#byteLength > this.#wantedBytes) this.#end(new PixelError("too many rows"));
    for (let at = into === 0 ? 0 : this.#rowBytes - into; at < bytes.length; at += this.#rowBytes)
      if ((bytes[at] ?? 0) > LAST_FILTER) this.#end(new PixelError("unknown filter"));
    // Memory that is given back at once is used again; that of the collector is new, which costs as much as unpacking.
    detachBuffer(bytes);
  }

  #end(failure: PixelError): void {
    this.#failure ??= failure;
    this.#fail?.(this.#failure);
    this.#inflate.destroy();
  }
}
