import { Base64Decoder, isDataUrl, readDataUrlHeader } from "../base64.ts";
import type { Spool, SpoolFile } from "../spool.ts";

const HEAD_BYTES = 4096;
const BASE64_HEAD = /^[A-Za-z0-9+/_\-=\s]+$/;

/** A long string on disk: the bytes decoded from base64, or the text in UTF-8. */
export class SpooledString {
  constructor(
    readonly blob: Blob,
    readonly byteLength: number,
    /** True when the text was base64; the blob then has the decoded bytes. */
    readonly decoded: boolean,
    /**
     * The MIME type of a decoded `data:` URL, in lower case, empty if the URL has none; undefined for any other text.
     */
    readonly mime: string | undefined,
  ) {}
}

interface LongStringOptions {
  /** True to decode a `data:` URL or bare base64. Other text is stored unchanged. */
  decode: boolean;
  /** Maximum size of the file. */
  maxBytes: number;
  /** True to accept raw control characters, which JSON forbids. */
  allowsControls: boolean;
}

type LongStringFault = "control_character" | "invalid_base64" | "invalid_utf8" | "too_large";

export class LongStringError extends Error {
  override readonly name = "LongStringError";
  constructor(readonly reason: LongStringFault) {
    super(reason);
  }
}

/** Writes one string to disk while it arrives. The string's first 4 KiB decide whether it is decoded as base64. */
export class LongString {
  readonly #file: SpoolFile;
  readonly #utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  #head: Buffer | undefined = Buffer.alloc(0);
  #decoder: Base64Decoder | undefined;
  #mime: string | undefined;
  readonly #options: LongStringOptions;

  constructor(spool: Spool, options: LongStringOptions) {
    this.#options = options;
    this.#file = spool.create();
  }

  /** Writes text without escapes. */
  write(text: Buffer): void {
    if (this.#decoder) return this.#decodeText(this.#decoder, text);
    if (!this.#options.allowsControls) refuseControls(text);
    this.writeEscaped(text);
  }

  /** Writes text whose escapes were decoded. Such text may contain control characters. */
  writeEscaped(text: Buffer): void {
    if (this.#decoder) this.#decodeText(this.#decoder, text);
    else if (this.#head) {
      this.#head = Buffer.concat([this.#head, text]);
      if (this.#head.byteLength >= HEAD_BYTES) this.#decide(this.#head);
    } else this.#writeText(text);
  }

  /**
   * True once the first 4 KiB have shown that the text is decoded as base64. The scanner then leaves out escaped line
   * ends.
   */
  get isDecoding(): boolean {
    return this.#decoder !== undefined;
  }

  /** Waits until most of the written text is on disk. */
  ready(): Promise<void> | undefined {
    return this.#file.ready();
  }

  async finish(): Promise<SpooledString> {
    if (this.#head) this.#decide(this.#head);
    if (this.#decoder) this.#guard("invalid_base64", () => this.#decoder?.finish());
    else this.#guard("invalid_utf8", () => this.#utf8.decode());
    const blob = await this.#file.finish(this.#mime);
    return new SpooledString(blob, this.#file.byteLength, this.#decoder !== undefined, this.#mime);
  }

  #decide(head: Buffer): void {
    this.#head = undefined;
    const text = head.toString("latin1", 0, HEAD_BYTES);
    const isData = isDataUrl(text);
    if (!this.#options.decode || !(isData || BASE64_HEAD.test(text))) return this.#writeText(head);
    const header = readDataUrlHeader(text);
    if (isData && !header) throw new LongStringError("invalid_base64");
    this.#mime = header?.mime;
    this.#decoder = new Base64Decoder((bytes) => this.#store(bytes), this.#options.allowsControls);
    const start = head.toString("latin1", header?.length ?? 0).replace(/[ \t\r\n]+/g, "");
    this.#decodeText(this.#decoder, Buffer.from(start, "latin1"));
  }

  #decodeText(decoder: Base64Decoder, text: Buffer): void {
    this.#guard("invalid_base64", () => decoder.write(text));
  }

  #writeText(text: Buffer): void {
    this.#guard("invalid_utf8", () => this.#utf8.decode(text, { stream: true }));
    this.#store(text);
  }

  #store(bytes: Uint8Array): void {
    if (this.#file.byteLength + bytes.byteLength > this.#options.maxBytes)
      throw new LongStringError("too_large");
    this.#file.write(bytes);
  }

  #guard(reason: LongStringFault, work: () => unknown): void {
    try {
      work();
    } catch (error) {
      if (error instanceof LongStringError) throw error;
      throw new LongStringError(reason);
    }
  }
}

function refuseControls(text: Buffer): void {
  for (let at = 0; at < text.byteLength; at += 1) {
    if (text.readUInt8(at) < 0x20) throw new LongStringError("control_character");
  }
}
