import { Base64Decoder, Base64Error } from "../../lib/base64.ts";
import { detachBuffer } from "../../lib/detach-buffer.ts";
import { yieldToEventLoop } from "../../lib/pacer.ts";
import type { Spool, SpoolFile } from "../../lib/spool.ts";
import { brokenResponse, MAX_IMAGE_BYTES, readPieces } from "./http.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** A string longer than this is taken for an image and decoded while it arrives. */
const LONG_BYTES = 64 * 1024;
/** Most bytes of everything that is no long string. */
const MAX_SKELETON_BYTES = 4 * 1024 * 1024;
/** Decoded at once. */
const SLICE_BYTES = 256 * 1024;
const EMPTY = Buffer.alloc(0);

/** Reads an answer through a `LiftedJson`, which comes back with the rest of the JSON. */
export async function extractImages(
  response: Response,
  spool: Spool,
  signal: AbortSignal,
): Promise<{ json: ExtractedJson; skeleton: string }> {
  const json = new ExtractedJson(spool);
  for await (const piece of readPieces(response, MAX_IMAGE_BYTES, signal)) {
    await json.write(piece);
    detachBuffer(piece);
  }
  return { json, skeleton: json.finish() };
}

/**
 * Reads a JSON answer whose images are base64 strings without ever holding the base64 or the images: long strings
 * are decoded into `spool` as they arrive, and a short mark stands in their place. Throws `broken` where a long
 * string is no base64.
 */
export class ExtractedJson {
  /** Drawn anew for each answer, so that no text of the vendor can be taken for a mark. */
  private readonly mark = `lifted:${crypto.randomUUID()}:`;
  private readonly images: Blob[] = [];
  private readonly skeleton: Buffer[] = [];
  private skeletonLength = 0;
  /** The string that is open, from its first character; undefined outside of strings. */
  private text: Buffer | undefined;
  private long: LongImage | undefined;

  constructor(private readonly spool: Spool) {}

  /** Await it before the next piece, so that what is not yet on disk stays bounded. Nothing of the piece is kept. */
  async write(piece: Uint8Array): Promise<void> {
    for (let from = 0; from < piece.byteLength; from += SLICE_BYTES) {
      // Many answers that arrive at once would otherwise hold the event loop together.
      const paused = yieldToEventLoop();
      if (paused) await paused;
      const slice = Buffer.from(
        piece.buffer,
        piece.byteOffset + from,
        Math.min(SLICE_BYTES, piece.byteLength - from),
      );
      await this.writeSlice(slice);
      await this.long?.ready();
    }
  }

  private async writeSlice(slice: Buffer): Promise<void> {
    let rest = slice;
    while (rest.byteLength > 0) {
      if (this.long) rest = await this.writeLong(this.long, rest);
      else if (this.text) rest = this.writeText(Buffer.concat([this.text, rest]));
      else rest = this.writeStructure(rest);
    }
  }

  /** The answer's JSON with marks for its long strings. */
  finish(): string {
    if (this.long || this.text) throw brokenResponse("broke off inside a string");
    if (this.skeletonLength === 0) throw brokenResponse("gave an empty answer");
    return Buffer.concat(this.skeleton).toString("utf8");
  }

  /** The decoded bytes a mark stands for; undefined when the text is no mark. */
  extracted(text: string): Blob | undefined {
    return text.startsWith(this.mark) ? this.images[Number(text.slice(this.mark.length))] : undefined;
  }

  private writeStructure(rest: Buffer): Buffer {
    const quote = rest.indexOf(QUOTE);
    const end = quote < 0 ? rest.byteLength : quote + 1;
    this.append(rest.subarray(0, end));
    if (quote >= 0) this.text = EMPTY;
    return rest.subarray(end);
  }

  /** `rest` is everything of the open string so far, and what follows. */
  private writeText(rest: Buffer): Buffer {
    const end = endOfString(rest);
    if (end > LONG_BYTES || (end < 0 && rest.byteLength > LONG_BYTES)) {
      this.text = undefined;
      this.long = new LongImage(this.spool);
      return rest;
    }
    if (end < 0) {
      this.text = rest;
      return EMPTY;
    }
    this.text = undefined;
    this.append(rest.subarray(0, end + 1));
    return rest.subarray(end + 1);
  }

  private async writeLong(long: LongImage, rest: Buffer): Promise<Buffer> {
    const quote = rest.indexOf(QUOTE);
    if (quote < 0) {
      long.write(rest);
      return EMPTY;
    }
    long.write(rest.subarray(0, quote));
    this.append(Buffer.from(`${this.mark}${this.images.length}"`));
    this.images.push(await long.finish());
    this.long = undefined;
    return rest.subarray(quote + 1);
  }

  private append(bytes: Buffer): void {
    this.skeletonLength += bytes.byteLength;
    if (this.skeletonLength > MAX_SKELETON_BYTES) throw brokenResponse("gave too much beside its images");
    // A part of a piece would keep the whole of it.
    this.skeleton.push(Buffer.from(bytes));
  }
}

/** One base64 string on its way to bytes. Serializers that escape slashes are understood. */
class LongImage {
  private readonly file: SpoolFile;
  private readonly decoder = new Base64Decoder((bytes) => this.file.write(bytes), false);
  private endsInBackslash = false;

  constructor(spool: Spool) {
    this.file = spool.create();
  }

  ready(): Promise<void> | undefined {
    return this.file.ready();
  }

  write(text: Buffer): void {
    this.decode(() => {
      const backslash = text.indexOf(BACKSLASH);
      if (backslash < 0 && !this.endsInBackslash) this.decoder.write(text);
      else this.decoder.write(this.unescape(text));
    });
  }

  finish(): Promise<Blob> {
    this.decode(() => this.decoder.finish());
    return this.file.finish();
  }

  private unescape(text: Buffer): Buffer {
    const escaped = (this.endsInBackslash ? "\\" : "") + text.toString("latin1");
    this.endsInBackslash = escaped.endsWith("\\");
    const whole = this.endsInBackslash ? escaped.slice(0, -1) : escaped;
    return Buffer.from(whole.replaceAll("\\/", "/").replace(/\\[nr]/g, ""), "latin1");
  }

  private decode(step: () => void): void {
    try {
      step();
    } catch (error) {
      if (error instanceof Base64Error) throw brokenResponse("gave an image that is no base64", error);
      throw error;
    }
  }
}

/** Place of the quote that ends a string, or -1 while it has not come. */
function endOfString(text: Buffer): number {
  let quote = text.indexOf(QUOTE);
  while (quote >= 0) {
    let before = quote - 1;
    while (text[before] === BACKSLASH) before--;
    if ((quote - before) % 2 === 1) return quote;
    quote = text.indexOf(QUOTE, quote + 1);
  }
  return -1;
}
