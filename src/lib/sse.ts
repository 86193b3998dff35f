/**
 * Server-sent events as bytes (WHATWG HTML, "Server-sent events"): where frames end and what their data is.
 */

/** A blank line: two line ends in a row, each CRLF, LF or CR. */
const FRAME_END = /(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?!\n))/g;
const LINE_END = /\r\n|\n|\r/;

/** Cuts a byte stream into frames, whatever its chunks. Each frame keeps its bytes, the blank line included. */
export class FrameSplitter {
  #rest: Buffer = Buffer.alloc(0);
  /** Up to here the rest is known to hold no frame end. */
  #searched = 0;

  /** True when nothing is left over, so that the next chunk begins a frame. */
  get isEmpty(): boolean {
    return this.#rest.length === 0;
  }

  get restBytes(): number {
    return this.#rest.length;
  }

  push(chunk: Uint8Array): Buffer[] {
    const bytes = view(chunk);
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const text = this.#rest.toString("latin1");
    const frames: Buffer[] = [];
    let start = 0;
    FRAME_END.lastIndex = this.#searched;
    for (let match = FRAME_END.exec(text); match; match = FRAME_END.exec(text)) {
      frames.push(this.#rest.subarray(start, FRAME_END.lastIndex));
      start = FRAME_END.lastIndex;
    }
    this.#rest = this.#rest.subarray(start);
    this.#searched = Math.max(0, this.#rest.length - 3);
    return frames;
  }

  /** What is left when the stream has ended: a frame without its blank line. */
  end(): Buffer {
    const rest = this.#rest;
    this.#rest = Buffer.alloc(0);
    return rest;
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
