import { LongString, LongStringError, type SpooledString } from "./long-string.ts";
import type { Spool } from "../spool.ts";
import { unescape } from "./escape.ts";
import { JsonSpoolError, type JsonPath, type JsonSpoolOptions } from "./options.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const FIRST_BYTES = 4 * 1024;
const OPEN_STRING_BYTES = 256 * 1024;
const EMPTY = Buffer.alloc(0);

/** An open array or object, and the position of the scanner inside it. */
interface Level {
  isArray: boolean;
  index: number;
  /** Position of the latest key in the skeleton: from its opening quote up to, but not including, its closing quote. */
  keyStart: number;
  keyEnd: number;
  expectsKey: boolean;
}

/**
 * Extracts long strings from JSON bytes. The rest is called the skeleton: short JSON with a placeholder for each long
 * string. The native parser parses the skeleton later.
 */
export class JsonScanner {
  /** The placeholder is random for each body, so that no text of a caller can contain it. */
  readonly placeholder = `spooled:${crypto.randomUUID()}:`;
  readonly strings: SpooledString[] = [];
  #skeleton = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #skeletonLength = 0;
  readonly #levels: Level[] = [];
  readonly #topLevelKeys = new Set<string>();
  #valueCount = 1;
  /** Position in the skeleton of the opening quote of the short string being read; -1 when none is being read. */
  #stringStart = -1;
  #isEscaped = false;
  #long: LongString | undefined;
  #longPath: JsonPath = [];
  #carried: Buffer | undefined;
  #scratch = EMPTY;
  readonly #spool: Spool;
  readonly #options: JsonSpoolOptions;

  constructor(spool: Spool, options: JsonSpoolOptions) {
    this.#spool = spool;
    this.#options = options;
  }

  async scan(slice: Buffer): Promise<void> {
    let data = this.#carried ? Buffer.concat([this.#carried, slice]) : slice;
    this.#carried = undefined;
    while (data.byteLength > 0) {
      data = this.#long ? await this.#scanLong(this.#long, data) : this.#scanShort(data);
    }
  }

  /** Returns the bytes of the skeleton. Call it after all slices. */
  finish(): Buffer {
    if (this.#long) throw new JsonSpoolError("invalid_json", this.#longPath);
    if (this.#skeletonLength > this.#options.maxSkeletonBytes) throw new JsonSpoolError("too_complex");
    return this.#skeleton.subarray(0, this.#skeletonLength);
  }

  /** Copies bytes to the skeleton until a string exceeds the threshold. Returns the bytes that are left to scan. */
  #scanShort(data: Buffer): Buffer {
    let copied = 0;
    for (let at = 0; at < data.byteLength; at += 1) {
      const byte = data[at];
      if (this.#stringStart < 0) {
        if (byte === QUOTE) this.#stringStart = this.#skeletonLength + at - copied;
        else this.#scanStructure(byte);
      } else if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) {
        this.#append(data, copied, at);
        copied = at;
        if (this.#isLong()) return this.#startLong(data.subarray(at));
        this.#endString();
      }
    }
    this.#append(data, copied, data.byteLength);
    return this.#stringStart >= 0 && this.#isLong() ? this.#startLong(data.subarray(data.byteLength)) : EMPTY;
  }

  #scanStructure(byte: number | undefined): void {
    const level = this.#levels.at(-1);
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.#open(byte === OPEN_ARRAY);
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) this.#close(level, byte === CLOSE_ARRAY);
    else if (byte === COMMA) this.#next(level);
    else if (byte === COLON && level) level.expectsKey = false;
  }

  #open(isArray: boolean): void {
    if (this.#levels.length >= this.#options.maxDepth) throw new JsonSpoolError("too_deep", this.#path());
    this.#countValue();
    this.#levels.push({ isArray, index: 0, keyStart: 0, keyEnd: 0, expectsKey: !isArray });
  }

  #close(level: Level | undefined, isArray: boolean): void {
    if (level?.isArray !== isArray) throw new JsonSpoolError("invalid_json", this.#path());
    this.#levels.pop();
  }

  #next(level: Level | undefined): void {
    if (!level) throw new JsonSpoolError("invalid_json", []);
    this.#countValue();
    level.index += 1;
    level.expectsKey = !level.isArray;
  }

  #countValue(): void {
    this.#valueCount += 1;
    if (this.#valueCount > this.#options.maxValues) throw new JsonSpoolError("too_complex", this.#path());
  }

  /** True when the open string must move to disk. Keys stay in the skeleton, whatever their length. */
  #isLong(): boolean {
    const length = this.#skeletonLength - this.#stringStart - 1;
    return length > this.#options.thresholdBytes && this.#levels.at(-1)?.expectsKey !== true;
  }

  #endString(): void {
    const start = this.#stringStart;
    const end = this.#skeletonLength;
    const level = this.#levels.at(-1);
    this.#stringStart = -1;
    if (!level?.expectsKey) return;
    level.keyStart = start;
    level.keyEnd = end;
    if (this.#levels.length === 1) this.#addTopLevelKey(this.#readKey(start, end));
  }

  #addTopLevelKey(key: string): void {
    if (this.#topLevelKeys.has(key)) throw new JsonSpoolError("duplicate_key", [key]);
    this.#topLevelKeys.add(key);
  }

  /** Moves the string that began in the skeleton to disk. Scanning continues from the string's first character. */
  #startLong(rest: Buffer): Buffer {
    const start = this.#stringStart + 1;
    const begun = Buffer.from(this.#skeleton.subarray(start, this.#skeletonLength));
    this.#skeletonLength = start;
    this.#stringStart = -1;
    this.#isEscaped = false;
    this.#longPath = this.#path();
    if (this.strings.length >= this.#options.maxStrings)
      throw new JsonSpoolError("too_complex", this.#longPath);
    this.#long = new LongString(this.#spool, {
      decode: this.#options.decode(this.#longPath),
      maxBytes: this.#options.maxStringBytes,
      allowsControls: false,
    });
    return Buffer.concat([begun, rest]);
  }

  async #scanLong(long: LongString, data: Buffer): Promise<Buffer> {
    try {
      const end = this.#copyLong(long, data);
      await long.ready();
      if (end < 0) return EMPTY;
      this.strings.push(await long.finish());
      this.#long = undefined;
      this.#append(Buffer.from(`${this.placeholder}${this.strings.length - 1}"`));
      return data.subarray(end + 1);
    } catch (error) {
      if (error instanceof LongStringError) throw this.#translate(error);
      throw error;
    }
  }

  /** Writes the string up to its closing quote. Returns the index of the quote, or -1 when it has not arrived yet. */
  #copyLong(long: LongString, data: Buffer): number {
    const quote = data.indexOf(QUOTE);
    const end = quote < 0 ? data.byteLength : quote;
    const backslash = data.indexOf(BACKSLASH);
    if (backslash >= 0 && backslash < end) return this.#copyEscaped(long, data);
    long.write(data.subarray(0, end));
    return quote;
  }

  #copyEscaped(long: LongString, data: Buffer): number {
    if (this.#scratch.byteLength < data.byteLength) this.#scratch = Buffer.allocUnsafeSlow(data.byteLength);
    const { read, written, stop } = unescape(data, this.#scratch, long.isDecoding);
    if (stop === "invalid") throw new JsonSpoolError("invalid_json", this.#longPath);
    long.writeEscaped(this.#scratch.subarray(0, written));
    if (stop === "more") this.#carried = Buffer.from(data.subarray(read));
    return stop === "quote" ? read : -1;
  }

  #translate(error: LongStringError): JsonSpoolError {
    const isSyntax = error.reason === "control_character" || error.reason === "invalid_utf8";
    const reason = isSyntax ? "invalid_json" : error.reason === "too_large" ? "too_large" : "invalid_base64";
    return new JsonSpoolError(reason, this.#longPath);
  }

  #path(): JsonPath {
    return this.#levels.map((level) =>
      level.isArray ? level.index : this.#readKey(level.keyStart, level.keyEnd),
    );
  }

  /** Returns a key as text. A key that is not a JSON string is refused later by the native parser. */
  #readKey(start: number, end: number): string {
    const text = this.#skeleton.toString("utf8", start, end);
    try {
      return String(JSON.parse(`${text}"`));
    } catch {
      return text;
    }
  }

  /**
   * Appends to the skeleton. The limit is higher than `maxSkeletonBytes`, because an open string may still move to
   * disk. `finish` checks the exact limit.
   */
  #append(data: Buffer, from = 0, to = data.byteLength): void {
    const needed = this.#skeletonLength + to - from;
    if (needed > this.#options.maxSkeletonBytes + this.#options.thresholdBytes + OPEN_STRING_BYTES)
      throw new JsonSpoolError("too_complex", this.#path());
    if (needed > this.#skeleton.byteLength) {
      const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#skeleton.byteLength * 2));
      this.#skeleton.copy(grown, 0, 0, this.#skeletonLength);
      this.#skeleton = grown;
    }
    data.copy(this.#skeleton, this.#skeletonLength, from, to);
    this.#skeletonLength = needed;
  }
}
