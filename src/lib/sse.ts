// Server-sent events as bytes (WHATWG HTML, "Server-sent events"). Our own, because the relay passes frames on byte by
// byte: parsers from packages give decoded events and keep neither comments nor the bytes of a frame.

/** A blank line: two line ends in a row, each CRLF, LF or CR. */
const FRAME_END = /(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?!\n))/g;
/** One character less than the longest blank line. */
const MAX_TAIL = 3;
const MARK = Buffer.from("\uFEFF");
const LINE_END = /\r\n|\n|\r/;

/** Cuts a byte stream into frames, whatever its chunks. Each frame keeps its bytes, the blank line included. */
export class FrameSplitter {
  /** The incomplete frame so far. */
  #pieces: Uint8Array[] = [];
  #restBytes = 0;
  /** Its last characters, in which a blank line may have begun. */
  #tail = "";
  #isFirst = true;

  /** True when the next chunk begins a frame. */
  get isEmpty(): boolean {
    return this.#restBytes === 0;
  }

  get restBytes(): number {
    return this.#restBytes;
  }

  push(chunk: Uint8Array): Buffer[] {
    const text = this.#tail + view(chunk).toString("latin1");
    const offset = this.#restBytes - this.#tail.length;
    this.#pieces.push(chunk);
    this.#restBytes += chunk.length;
    this.#tail = text.slice(-MAX_TAIL);
    const ends = [...text.matchAll(FRAME_END)].map((match) => offset + match.index + match[0].length);
    if (ends.length === 0) return [];
    const bytes = this.#take();
    const frames = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
    frames[0] = this.#withoutMark(frames[0] ?? bytes);
    this.#isFirst = false;
    const rest = bytes.subarray(ends.at(-1));
    if (rest.length > 0) this.#pieces = [rest];
    this.#restBytes = rest.length;
    this.#tail = rest.toString("latin1", Math.max(0, rest.length - MAX_TAIL));
    return frames;
  }

  /** The rest at the end of the stream: a frame without its blank line. */
  end(): Buffer {
    return this.#withoutMark(this.#take());
  }

  #take(): Buffer {
    const [only] = this.#pieces;
    const rest = this.#pieces.length === 1 && only ? view(only) : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#restBytes = 0;
    this.#tail = "";
    return rest;
  }

  /** A stream may begin with a byte order mark, which is none of its first frame. */
  #withoutMark(frame: Buffer): Buffer {
    return this.#isFirst && frame.subarray(0, MARK.length).equals(MARK) ? frame.subarray(MARK.length) : frame;
  }
}

/** The data of a frame, its `data:` lines joined; null for a frame of comments only. */
export function frameData(frame: Uint8Array): string | null {
  let data: string | null = null;
  for (const line of view(frame).toString("utf8").split(LINE_END)) {
    if (!line.startsWith("data:")) continue;
    const value = line.slice(line[5] === " " ? 6 : 5);
    data = data === null ? value : `${data}\n${value}`;
  }
  return data;
}

/** The same bytes as a Buffer, without copying. */
export function view(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
