import { Base64Decoder, Base64Error, decodeBase64 } from "../../lib/base64.ts";
import { detachBuffer } from "../../lib/detach-buffer.ts";
import { yieldToEventLoop } from "../../lib/waiting.ts";
import type { Spool, SpoolFile } from "../../lib/spool.ts";
import { brokenResponse, MAX_IMAGE_BYTES, readPieces } from "./http.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** A longer string is treated as an image and decoded while it arrives. */
const LONG_BYTES = 64 * 1024;
/** Of everything besides long strings. */
const MAX_SKELETON_BYTES = 4 * 1024 * 1024;
/** Decoded without yielding to the event loop. */
const CHUNK_BYTES = 256 * 1024;
const EMPTY = Buffer.alloc(0);
const NOT_BASE64 = "gave an image that is no base64";

/** Reads a response whose images are base64; `skeleton` is the rest of its JSON. */
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
 * Reads JSON whose images are base64 strings without ever holding the base64 or the images: long strings are decoded
 * into `spool` as they arrive and replaced by a placeholder. Throws `broken` where a long string is no base64.
 */
export class ExtractedJson {
  /** Random for each response, so that no text of the vendor can contain it. */
  readonly #placeholder = `extracted:${crypto.randomUUID()}:`;
  readonly #images: Blob[] = [];
  readonly #skeleton: Buffer[] = [];
  #skeletonLength = 0;
  /** The unfinished string from its first character; undefined outside of strings. */
  #text: Buffer | undefined;
  #long: LongImage | undefined;
  readonly #spool: Spool;

  constructor(spool: Spool) {
    this.#spool = spool;
  }

  /** Must be awaited before the next piece: that bounds what is not yet on disk. Nothing of the piece is kept. */
  async write(piece: Uint8Array): Promise<void> {
    for (let from = 0; from < piece.byteLength; from += CHUNK_BYTES) {
      // Many responses that arrive at once would otherwise block the event loop.
      const yielded = yieldToEventLoop();
      if (yielded) await yielded;
      const chunk = Buffer.from(
        piece.buffer,
        piece.byteOffset + from,
        Math.min(CHUNK_BYTES, piece.byteLength - from),
      );
      await this.#writeChunk(chunk);
      await this.#long?.ready();
    }
  }

  async #writeChunk(chunk: Buffer): Promise<void> {
    let rest = chunk;
    while (rest.byteLength > 0) {
      if (this.#long) rest = await this.#writeLong(this.#long, rest);
      else if (this.#text) rest = this.#writeText(Buffer.concat([this.#text, rest]));
      else rest = this.#writeStructure(rest);
    }
  }

  /** The JSON with placeholders for its long strings. */
  finish(): string {
    if (this.#long || this.#text) throw brokenResponse("broke off inside a string");
    if (this.#skeletonLength === 0) throw brokenResponse("gave an empty response");
    return Buffer.concat(this.#skeleton).toString("utf8");
  }

  /** The image of a string of the JSON, long or short. Throws `broken` where it is no base64. */
  image(text: string): Blob {
    const extracted = this.extracted(text);
    if (extracted) return extracted;
    const bytes = decodeBase64(text);
    if (!bytes) throw brokenResponse(NOT_BASE64);
    return new Blob([new Uint8Array(bytes)]);
  }

  /** The decoded bytes behind a placeholder; undefined for any other text. */
  extracted(text: string): Blob | undefined {
    return text.startsWith(this.#placeholder)
      ? this.#images[Number(text.slice(this.#placeholder.length))]
      : undefined;
  }

  #writeStructure(rest: Buffer): Buffer {
    const quote = rest.indexOf(QUOTE);
    const end = quote < 0 ? rest.byteLength : quote + 1;
    this.#append(rest.subarray(0, end));
    if (quote >= 0) this.#text = EMPTY;
    return rest.subarray(end);
  }

  /** `rest` is the unfinished string so far and what follows it. */
  #writeText(rest: Buffer): Buffer {
    const end = endOfString(rest);
    if (end > LONG_BYTES || (end < 0 && rest.byteLength > LONG_BYTES)) {
      this.#text = undefined;
      this.#long = new LongImage(this.#spool);
      return rest;
    }
    if (end < 0) {
      this.#text = rest;
      return EMPTY;
    }
    this.#text = undefined;
    this.#append(rest.subarray(0, end + 1));
    return rest.subarray(end + 1);
  }

  async #writeLong(long: LongImage, rest: Buffer): Promise<Buffer> {
    const quote = rest.indexOf(QUOTE);
    if (quote < 0) {
      long.write(rest);
      return EMPTY;
    }
    long.write(rest.subarray(0, quote));
    this.#append(Buffer.from(`${this.#placeholder}${this.#images.length}"`));
    this.#images.push(await long.finish());
    this.#long = undefined;
    return rest.subarray(quote + 1);
  }

  #append(bytes: Buffer): void {
    this.#skeletonLength += bytes.byteLength;
    if (this.#skeletonLength > MAX_SKELETON_BYTES) throw brokenResponse("gave too much beside its images");
    // A view would keep the whole piece in memory.
    this.#skeleton.push(Buffer.from(bytes));
  }
}

/** Decodes one base64 string. Escaped slashes and line breaks are understood. */
class LongImage {
  readonly #file: SpoolFile;
  readonly #decoder = new Base64Decoder((bytes) => this.#file.write(bytes), false);
  #endsInBackslash = false;

  constructor(spool: Spool) {
    this.#file = spool.create();
  }

  ready(): Promise<void> | undefined {
    return this.#file.ready();
  }

  write(text: Buffer): void {
    this.#decode(() => {
      const backslash = text.indexOf(BACKSLASH);
      if (backslash < 0 && !this.#endsInBackslash) this.#decoder.write(text);
      else this.#decoder.write(this.#unescape(text));
    });
  }

  finish(): Promise<Blob> {
    this.#decode(() => this.#decoder.finish());
    return this.#file.finish();
  }

  #unescape(text: Buffer): Buffer {
    const escaped = (this.#endsInBackslash ? "\\" : "") + text.toString("latin1");
    this.#endsInBackslash = escaped.endsWith("\\");
    const whole = this.#endsInBackslash ? escaped.slice(0, -1) : escaped;
    return Buffer.from(whole.replaceAll("\\/", "/").replace(/\\[nr]/g, ""), "latin1");
  }

  #decode(step: () => void): void {
    try {
      step();
    } catch (error) {
      if (error instanceof Base64Error) throw brokenResponse(NOT_BASE64, error);
      throw error;
    }
  }
}

/** Index of the quote that ends a string, or -1 while it has not arrived. */
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
