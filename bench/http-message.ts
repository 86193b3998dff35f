/**
 * Parses the HTTP/1.1 messages of a connection, with Content-Length or chunked bodies. Bytes are copied only when a
 * read ends in the middle of a head or of a line.
 */
export class MessageReader {
  #state: State = "head";
  #held: Buffer | undefined;
  #left = 0;

  constructor(readonly listener: MessageListener) {}

  /** Parses received bytes. Calls the listener before returning; the caller may reuse the bytes afterwards. */
  push(data: Buffer): void {
    const bytes = this.#held ? Buffer.concat([this.#held, data]) : data;
    this.#held = undefined;
    let at = 0;
    while (at < bytes.length) {
      const next = this.#step(bytes, at);
      if (next < 0) {
        this.#held = Buffer.from(bytes.subarray(at));
        return;
      }
      at = next;
    }
  }

  /** Returns the position after the parsed bytes, or -1 when more bytes are needed. */
  #step(bytes: Buffer, at: number): number {
    switch (this.#state) {
      case "head":
        return this.#readHead(bytes, at);
      case "sized-body":
      case "chunk-body":
        return this.#readBody(bytes, at);
      case "chunk-size":
        return this.#readChunkSize(bytes, at);
      case "chunk-end":
        return this.#skipLine(bytes, at, "chunk-size");
      case "trailer":
        return this.#readTrailer(bytes, at);
    }
  }

  #readHead(bytes: Buffer, at: number): number {
    const end = bytes.indexOf("\r\n\r\n", at, "latin1");
    if (end < 0) return -1;
    const head = bytes.toString("latin1", at, end);
    this.listener.head(head);
    const length = headerOf(head, "content-length");
    if (length !== undefined && Number(length) > 0) {
      this.#left = Number(length);
      this.#state = "sized-body";
    } else if (headerOf(head, "transfer-encoding")?.toLowerCase() === "chunked") {
      this.#state = "chunk-size";
    } else {
      this.listener.end();
    }
    return end + 4;
  }

  #readBody(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#left);
    this.#left -= end - at;
    this.listener.body(bytes, at, end);
    if (this.#left === 0) {
      if (this.#state === "chunk-body") this.#state = "chunk-end";
      else this.#finish();
    }
    return end;
  }

  #readChunkSize(bytes: Buffer, at: number): number {
    const lineEnd = bytes.indexOf(LINE_FEED, at);
    if (lineEnd < 0) return -1;
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    if (Number.isNaN(size)) throw new Error("A chunk has no readable size.");
    this.#left = size;
    this.#state = size === 0 ? "trailer" : "chunk-body";
    return lineEnd + 1;
  }

  #readTrailer(bytes: Buffer, at: number): number {
    const next = this.#skipLine(bytes, at, "trailer");
    if (next >= 0 && next - at <= 2) this.#finish();
    return next;
  }

  #skipLine(bytes: Buffer, at: number, then: State): number {
    const lineEnd = bytes.indexOf(LINE_FEED, at);
    if (lineEnd < 0) return -1;
    this.#state = then;
    return lineEnd + 1;
  }

  #finish(): void {
    this.#state = "head";
    this.listener.end();
  }
}

export interface MessageListener {
  /** Called with the start line and the headers, without the empty line. */
  head(text: string): void;
  /** Called with a piece of the body: `bytes[start, end)`. The bytes are valid only during the call. */
  body(bytes: Buffer, start: number, end: number): void;
  end(): void;
}

type State = "head" | "sized-body" | "chunk-size" | "chunk-body" | "chunk-end" | "trailer";

const LINE_FEED = 10;

/** Returns the value of a header in a message head. `name` is in lower case. */
export function headerOf(head: string, name: string): string | undefined {
  const lower = head.toLowerCase();
  const mark = `\r\n${name}:`;
  const start = lower.indexOf(mark);
  if (start < 0) return undefined;
  const end = lower.indexOf("\r\n", start + 2);
  return head.slice(start + mark.length, end < 0 ? undefined : end).trim();
}
