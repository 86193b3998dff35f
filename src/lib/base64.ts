const BATCH_CHARACTERS = 64 * 1024;
const SPACE = / +/g;
const WHITE_SPACE = /[ \t\r\n]+/g;
const ALPHABET = /^([A-Za-z0-9+/_-]*)(=*)$/;
const HEADER = /^data:([^,;"\s]*)((?:;[^,;]*)*);base64,/i;

/** Text that should have been base64 is not. */
export class Base64Error extends Error {
  override readonly name = "Base64Error";
}

/**
 * Decodes base64 as it arrives, in either alphabet, with or without padding, spaces ignored; anything else throws
 * a `Base64Error`. Tabs and line ends are ignored too when `skipsLineEnds` is set.
 */
export class Base64Decoder {
  private readonly input = Buffer.allocUnsafeSlow(BATCH_CHARACTERS);
  private readonly output = Buffer.allocUnsafeSlow((BATCH_CHARACTERS / 4) * 3);
  private used = 0;
  private padding = 0;
  /** The one to three characters before the padding, once it has begun. */
  private tail = "";

  /** `sink` must have used or copied the bytes when it returns: the buffer is filled again. */
  constructor(
    private readonly sink: (bytes: Uint8Array) => void,
    private readonly skipsLineEnds: boolean,
  ) {}

  write(text: Buffer): void {
    let from = 0;
    while (from < text.byteLength) {
      const taken = text.copy(this.input, this.used, from);
      from += taken;
      this.used += taken;
      if (this.used === BATCH_CHARACTERS && !this.decodePlain()) this.decodeOther();
    }
  }

  /** Decodes what is left and checks length and padding. */
  finish(): void {
    if (!this.decodePlain() || this.used > 0) this.decodeOther();
    const rest = this.padding > 0 ? this.tail : this.input.toString("latin1", 0, this.used);
    const isComplete = this.padding > 0 ? rest.length + this.padding === 4 : rest.length !== 1;
    if (!isComplete) throw new Base64Error("length");
    if (rest !== "") this.sink(Buffer.from(rest, "base64"));
  }

  /** The native decoder skips what it does not know, so a short result says that a closer look is needed. */
  private decodePlain(): boolean {
    const whole = this.used - (this.used % 4);
    if (this.padding > 0) return false;
    const written = this.output.write(this.input.toString("latin1", 0, whole), "base64");
    if (written !== (whole / 4) * 3) return false;
    this.sink(this.output.subarray(0, written));
    this.input.copyWithin(0, whole, this.used);
    this.used -= whole;
    return true;
  }

  private decodeOther(): void {
    const white = this.skipsLineEnds ? WHITE_SPACE : SPACE;
    const match = ALPHABET.exec(this.input.toString("latin1", 0, this.used).replace(white, ""));
    const [, characters = "", padding = ""] = match ?? [];
    if (!match || (this.padding > 0 && characters !== "")) throw new Base64Error("alphabet");
    const whole = characters.length - (characters.length % 4);
    this.sink(this.output.subarray(0, this.output.write(characters.slice(0, whole), "base64")));
    this.used = 0;
    if (this.padding > 0 || padding !== "") this.keepPadding(characters.slice(whole), padding.length);
    else this.used = this.input.write(characters.slice(whole), "latin1");
  }

  private keepPadding(tail: string, padding: number): void {
    this.tail += tail;
    this.padding += padding;
    if (this.padding > 2 || this.tail.length < 2) throw new Base64Error("padding");
  }
}

/** Decodes a whole text by the same rules, white space ignored; null when it is not base64. */
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

/** Whether a text claims to be a `data:` URL, well-formed or not. */
export function isDataUrl(text: string): boolean {
  return /^data:/i.test(text);
}

/** Reads the start of a base64 `data:` URL: its MIME type in lower case and where the data begins; null otherwise. */
export function readDataUrlHeader(text: string): { mime: string; length: number } | null {
  const match = HEADER.exec(text);
  return match && { mime: (match[1] ?? "").toLowerCase(), length: match[0].length };
}
