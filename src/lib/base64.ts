const BATCH_CHARACTERS = 64 * 1024;
const SPACE = / +/g;
const WHITE_SPACE = /[ \t\r\n]+/g;
const ALPHABET = /^([A-Za-z0-9+/_-]*)(=*)$/;
const HEADER = /^data:([^,;"\s]*)((?:;[^,;]*)*);base64,/i;

/** Thrown for a text that is not base64. */
export class Base64Error extends Error {
  override readonly name = "Base64Error";
}

/**
 * Decodes base64 as it arrives, in either alphabet, with or without padding. Ignores spaces and, with `skipsLineEnds`,
 * tabs and line breaks. Throws a `Base64Error` for anything else.
 */
export class Base64Decoder {
  /** Characters that are not decoded yet: at most three when the text is plain, otherwise up to a batch. */
  readonly #input = Buffer.allocUnsafeSlow(BATCH_CHARACTERS);
  readonly #output = Buffer.allocUnsafeSlow((BATCH_CHARACTERS / 4) * 3);
  #used = 0;
  #padding = 0;
  /** The two or three characters before the padding; empty until the padding begins. */
  #tail = "";
  readonly #sink: (bytes: Uint8Array) => void;
  readonly #skipsLineEnds: boolean;

  /** The bytes are valid only until `sink` returns, because the buffer is reused. */
  constructor(sink: (bytes: Uint8Array) => void, skipsLineEnds: boolean) {
    this.#sink = sink;
    this.#skipsLineEnds = skipsLineEnds;
  }

  write(text: Buffer): void {
    let from = this.#complete(text, 0);
    while (text.byteLength - from >= 4) {
      from += this.#decodeBatch(text, from);
      from += this.#complete(text, from);
    }
    this.#keep(text, from, BATCH_CHARACTERS);
  }

  /** Decodes the remaining characters. Checks length and padding. */
  finish(): void {
    if (this.#used > 0) this.#decodeOther();
    const rest = this.#padding > 0 ? this.#tail : this.#input.toString("latin1", 0, this.#used);
    const isComplete = this.#padding > 0 ? rest.length + this.#padding === 4 : rest.length !== 1;
    if (!isComplete) throw new Base64Error("length");
    if (rest !== "") this.#sink(Buffer.from(rest, "base64"));
  }

  /** Decodes the next characters, without a copy if they are plain base64. Returns the number of characters used. */
  #decodeBatch(text: Buffer, from: number): number {
    const whole = Math.min(BATCH_CHARACTERS, (text.byteLength - from) & ~3);
    if (this.#decodePlain(text, from, from + whole)) return whole;
    const taken = this.#keep(text, from, BATCH_CHARACTERS);
    this.#decodeOther();
    return taken;
  }

  /**
   * Appends characters to the characters that earlier calls left, and decodes each group of four. Returns the number of
   * characters taken.
   */
  #complete(text: Buffer, from: number): number {
    let taken = 0;
    while (this.#used > 0 && from + taken < text.byteLength) {
      taken += this.#keep(text, from + taken, 4);
      if (this.#used < 4) break;
      if (this.#decodePlain(this.#input, 0, 4)) this.#used = 0;
      else this.#decodeOther();
    }
    return taken;
  }

  /** Stores characters that cannot be decoded yet, until `max` are stored. Returns the number of characters taken. */
  #keep(text: Buffer, from: number, max: number): number {
    const taken = text.copy(this.#input, this.#used, from, from + max - this.#used);
    this.#used += taken;
    return taken;
  }

  /** Decodes plain base64: the standard alphabet, without spaces or padding. Returns false for any other text. */
  #decodePlain(text: Buffer, from: number, to: number): boolean {
    const whole = ((to - from) / 4) * 3;
    if (this.#padding > 0 || this.#decodeStrictly(text.toString("latin1", from, to)) !== whole) return false;
    this.#sink(this.#output.subarray(0, whole));
    return true;
  }

  /**
   * Decodes with the native decoder, which ignores spaces and line breaks. Returns the number of bytes written, or -1
   * when the decoder refuses the text.
   */
  #decodeStrictly(text: string): number {
    try {
      return this.#output.setFromBase64(text).written;
    } catch (error) {
      if (error instanceof SyntaxError) return -1;
      throw error;
    }
  }

  #decodeOther(): void {
    const white = this.#skipsLineEnds ? WHITE_SPACE : SPACE;
    const match = ALPHABET.exec(this.#input.toString("latin1", 0, this.#used).replace(white, ""));
    const [, characters = "", padding = ""] = match ?? [];
    if (!match || (this.#padding > 0 && characters !== "")) throw new Base64Error("alphabet");
    const whole = characters.length - (characters.length % 4);
    this.#sink(this.#output.subarray(0, this.#output.write(characters.slice(0, whole), "base64")));
    this.#used = 0;
    if (this.#padding > 0 || padding !== "") this.#keepPadding(characters.slice(whole), padding.length);
    else this.#used = this.#input.write(characters.slice(whole), "latin1");
  }

  #keepPadding(tail: string, padding: number): void {
    this.#tail += tail;
    this.#padding += padding;
    if (this.#padding > 2 || this.#tail.length < 2) throw new Base64Error("padding");
  }
}

/** Decodes a complete text like `Base64Decoder`, ignoring white space. Returns null when the text is not base64. */
export function decodeBase64(text: string): Buffer | null {
  const pieces: Uint8Array[] = [];
  const decoder = new Base64Decoder((bytes) => pieces.push(Uint8Array.from(bytes)), true);
  try {
    decoder.write(Buffer.from(text, "utf8"));
    decoder.finish();
  } catch (error) {
    if (error instanceof Base64Error) return null;
    throw error;
  }
  return Buffer.concat(pieces);
}

/** True when a text begins like a `data:` URL, even if the rest is malformed. */
export function isDataUrl(text: string): boolean {
  return /^data:/i.test(text);
}

/** Reads the start of a base64 `data:` URL. Returns the MIME type in lower case and the start's length, or null. */
export function readDataUrlHeader(text: string): { mime: string; length: number } | null {
  const match = HEADER.exec(text);
  return match && { mime: (match[1] ?? "").toLowerCase(), length: match[0].length };
}
