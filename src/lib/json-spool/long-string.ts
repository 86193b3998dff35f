import { Base64Decoder, isDataUrl, readDataUrlHeader } from "../base64.ts";
import type { Spool, SpoolFile } from "../spool.ts";

const HEAD_BYTES = 4096;
const BASE64_HEAD = /^[A-Za-z0-9+/_\-=\s]+$/;

/** A string too long for memory, on disk instead: the decoded bytes of base64 text, or the text in UTF-8. */
export class SpooledString {
  constructor(
    readonly blob: Blob,
    readonly byteLength: number,
    /** True when the text was base64 and the blob holds the bytes it stood for. */
    readonly decoded: boolean,
    /** The MIME type a `data:` URL named, in lower case. */
    readonly mime: string | undefined,
  ) {}
}

export interface LongStringOptions {
  /** Decode the text when it is a `data:` URL or bare base64; else it is kept as text. */
  decode: boolean;
  /** Most bytes the file may get. */
  maxBytes: number;
  /** Whether raw control characters may stand in the text; JSON forbids them. */
  allowsControls: boolean;
}

export type LongStringFault = "control_character" | "invalid_base64" | "invalid_utf8" | "too_large";

export class LongStringError extends Error {
  override readonly name = "LongStringError";
  constructor(readonly reason: LongStringFault) {
    super(reason);
  }
}

/** Carries one string to disk while it arrives. What it is, is decided from its first 4 KiB. */
export class LongString {
  private readonly file: SpoolFile;
  private readonly utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  private head: Buffer | undefined = Buffer.alloc(0);
  private decoder: Base64Decoder | undefined;
  private mime: string | undefined;

  constructor(
    spool: Spool,
    private readonly options: LongStringOptions,
  ) {
    this.file = spool.create();
  }

  /** Text as it stood on the wire. */
  write(text: Buffer): void {
    if (this.decoder) return this.decodeText(this.decoder, text);
    if (!this.options.allowsControls) refuseControls(text);
    this.writeEscaped(text);
  }

  /** Text in which control characters are in order, as escapes stood for them. */
  writeEscaped(text: Buffer): void {
    if (this.decoder) this.decodeText(this.decoder, text);
    else if (this.head) {
      this.head = Buffer.concat([this.head, text]);
      if (this.head.byteLength >= HEAD_BYTES) this.decide(this.head);
    } else this.writeText(text);
  }

  /** Whether the text is base64, known after its first 4 KiB: line ends then mean nothing. */
  get isDecoding(): boolean {
    return this.decoder !== undefined;
  }

  /** Waits until little is left to be written to disk. */
  ready(): Promise<void> | undefined {
    return this.file.ready();
  }

  async finish(): Promise<SpooledString> {
    if (this.head) this.decide(this.head);
    if (this.decoder) this.guard("invalid_base64", () => this.decoder?.finish());
    else this.guard("invalid_utf8", () => this.utf8.decode());
    const blob = await this.file.finish(this.mime);
    return new SpooledString(blob, this.file.byteLength, this.decoder !== undefined, this.mime);
  }

  private decide(head: Buffer): void {
    this.head = undefined;
    const text = head.toString("latin1", 0, HEAD_BYTES);
    const isData = isDataUrl(text);
    if (!this.options.decode || !(isData || BASE64_HEAD.test(text))) return this.writeText(head);
    const header = readDataUrlHeader(text);
    if (isData && !header) throw new LongStringError("invalid_base64");
    this.mime = header?.mime;
    this.decoder = new Base64Decoder((bytes) => this.store(bytes), this.options.allowsControls);
    const start = head.toString("latin1", header?.length ?? 0).replace(/[ \t\r\n]+/g, "");
    this.decodeText(this.decoder, Buffer.from(start, "latin1"));
  }

  private decodeText(decoder: Base64Decoder, text: Buffer): void {
    this.guard("invalid_base64", () => decoder.write(text));
  }

  private writeText(text: Buffer): void {
    this.guard("invalid_utf8", () => this.utf8.decode(text, { stream: true }));
    this.store(text);
  }

  private store(bytes: Uint8Array): void {
    if (this.file.byteLength + bytes.byteLength > this.options.maxBytes)
      throw new LongStringError("too_large");
    this.file.write(bytes);
  }

  private guard(reason: LongStringFault, work: () => unknown): void {
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
