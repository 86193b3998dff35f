import { GrowingBuffer } from "./growing-buffer.ts";
import { dataOf } from "./sse-text.ts";

// Reads server-sent events as bytes (WHATWG HTML, "Server-sent events"). No package is used, because the relay forwards
// the bytes of frames unchanged: packages return decoded events and drop comments and bytes.

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const COLON = 0x3a;
const MARK = Buffer.from("\uFEFF");

/**
 * Splits a byte stream into frames, however the bytes are divided into chunks. Each frame keeps its bytes, including
 * the blank line at its end. Other blank lines are dropped. Of several comment frames in a chunk, only the first is
 * kept.
 */
export class FrameSplitter {
  /** The incomplete frame so far. */
  readonly #rest = new GrowingBuffer();
  #isFirst = true;
  /** True when the last byte was a carriage return. A line feed after it belongs to the same line break. */
  #isAfterReturn = false;
  /** Facts about the incomplete frame: its current line is empty, all its lines are empty, it has only comments. */
  #isLineEmpty = true;
  #isFrameEmpty = true;
  #isComment = true;
  #hasCommented = false;
  /** Number of lines of the incomplete frame. */
  restLines = 0;

  /** True when no frame is incomplete: the next chunk begins a new frame. */
  get isEmpty(): boolean {
    return this.#rest.length === 0;
  }

  get restBytes(): number {
    return this.#rest.length;
  }

  push(chunk: Uint8Array): Buffer[] {
    const frames: Buffer[] = [];
    this.#hasCommented = false;
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (byte !== LINE_FEED && byte !== CARRIAGE_RETURN) {
        if (this.#isLineEmpty) this.#beginLine(byte);
        this.#isAfterReturn = false;
        continue;
      }
      const isSameEnd = byte === LINE_FEED && this.#isAfterReturn;
      this.#isAfterReturn = byte === CARRIAGE_RETURN;
      if (isSameEnd) continue;
      if (!this.#isLineEmpty) {
        this.#isLineEmpty = true;
        this.restLines += 1;
        continue;
      }
      if (byte === CARRIAGE_RETURN && chunk[at + 1] === LINE_FEED) {
        at += 1;
        this.#isAfterReturn = false;
      }
      if (this.#isWanted()) frames.push(this.#frameOf(chunk.subarray(start, at + 1)));
      else if (!this.isEmpty) this.#rest.take();
      start = at + 1;
      this.#isFrameEmpty = true;
      this.#isComment = true;
      this.restLines = 0;
    }
    if (start < chunk.length) this.#rest.append(chunk.subarray(start));
    return frames;
  }

  /** Returns the unfinished frame at the end of the stream, without a blank line after it; empty when there is none. */
  end(): Buffer {
    return this.#withoutMark(this.#rest.take());
  }

  #beginLine(byte: number): void {
    this.#isLineEmpty = false;
    this.#isFrameEmpty = false;
    if (byte !== COLON) this.#isComment = false;
  }

  #isWanted(): boolean {
    if (this.#isFrameEmpty) return false;
    if (!this.#isComment) return true;
    const isFirst = !this.#hasCommented;
    this.#hasCommented = true;
    return isFirst;
  }

  #frameOf(last: Uint8Array): Buffer {
    if (this.#rest.length === 0) return this.#withoutMark(view(last));
    this.#rest.append(last);
    return this.#withoutMark(this.#rest.take());
  }

  /** Removes a byte order mark from the start of the stream. The mark is not part of the first frame. */
  #withoutMark(frame: Buffer): Buffer {
    const isMarked = this.#isFirst && frame.subarray(0, MARK.length).equals(MARK);
    this.#isFirst = false;
    return isMarked ? frame.subarray(MARK.length) : frame;
  }
}

/** Returns the data of a frame: its joined `data:` lines. Returns null for a frame without such lines. */
export function frameData(frame: Uint8Array): string | null {
  return dataOf(view(frame).toString("utf8"));
}

/** Returns `bytes` as a `Buffer`, without copying them. */
export function view(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
