import { GrowingBuffer } from "../growing-buffer.ts";
import { HttpError } from "./http-error.ts";
import { ResponseHead } from "./response.ts";

/** Receives the parts of a response, in the order of these methods. */
export interface ResponseListener {
  head(head: ResponseHead): void;
  /** Receives a piece of the body, never an empty one. The piece may be a view of the received bytes. */
  body(piece: Buffer): void;
  /** Receives the end of the response. `isReusable`: the connection can be used for another request. */
  end(isReusable: boolean): void;
}

/** Maximum size of status line and fields. A longer head is refused. */
const MAX_HEAD_BYTES = 64 * 1024;
/**
 * Maximum size of an incomplete line with a chunk's size or a trailer field. `MAX_TRAILER_BYTES` limits all trailer
 * fields together.
 */
const MAX_LINE_BYTES = 4 * 1024;
const MAX_TRAILER_BYTES = 16 * 1024;
/** Maximum number of interim responses before the final response. Servers send one or two. */
const MAX_INTERIM = 16;
/**
 * Minimum bytes of a chunk that always becomes a piece of its own. When at least so many bytes are read together,
 * smaller chunks are joined with their neighbours: a piece costs more than copying so few bytes.
 */
const SMALL_CHUNK_BYTES = 128;

/** Matches status line and fields (RFC 9112, 4 and 5). A field that continues on another line is refused. */
const HEAD = /^HTTP\/1\.[01] [1-9]\d\d(?: [^\r\n\0]*)?(?:\r\n[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\r\n\0]*)*$/;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

type State = "head" | "sized" | "until close" | "chunk size" | "chunk" | "chunk end" | "trailer" | "done";

/**
 * Reads the response to one request (RFC 9112). Throws an `HttpError` when the response is invalid; afterwards the
 * reader cannot be used.
 */
export class ResponseReader {
  readonly #listener: ResponseListener;
  #state: State = "head";
  /** The start of a head or line that is still incomplete. */
  #held: Buffer | null = null;
  /** Number of bytes of the body, or of the current chunk, that have not arrived yet. */
  #left = 0;
  #trailerBytes = 0;
  #interim = 0;
  /** Small chunks of the bytes being read, joined into one piece. */
  readonly #joined = new GrowingBuffer();
  #isReusable = false;

  constructor(listener: ResponseListener) {
    this.#listener = listener;
  }

  /** Reads received bytes. The listener may get views of them. */
  push(received: Buffer): void {
    const bytes = this.#held ? Buffer.concat([this.#held, received]) : received;
    this.#held = null;
    let at = 0;
    while (at < bytes.length) {
      const next = this.#step(bytes, at);
      if (next < 0) {
        this.#hold(bytes, at);
        break;
      }
      at = next;
    }
    this.#giveJoined();
  }

  /** Called when the other side closed the connection. Throws unless the close ends the body. */
  close(): void {
    if (this.#state !== "until close") throw new HttpError("closed", "the connection was closed");
    this.#end();
  }

  /** Returns the position after the part that was read, or -1 when more bytes are needed. */
  #step(bytes: Buffer, at: number): number {
    switch (this.#state) {
      case "head":
        return this.#readHead(bytes, at);
      case "sized":
      case "chunk":
        return this.#readSized(bytes, at);
      case "until close":
        this.#giveBody(at === 0 ? bytes : bytes.subarray(at));
        return bytes.length;
      case "chunk size":
        return this.#readChunkSize(bytes, at);
      case "chunk end":
        return this.#readChunkEnd(bytes, at);
      case "trailer":
        return this.#readTrailer(bytes, at);
      case "done":
        throw invalid("bytes after its end");
    }
  }

  #readHead(bytes: Buffer, at: number): number {
    const end = bytes.indexOf("\r\n\r\n", at, "latin1");
    if ((end < 0 ? bytes.length : end) - at > MAX_HEAD_BYTES) throw invalid("a head that is too long");
    if (end < 0) {
      // Without this check, a head with bare line feeds would wait until the call's deadline.
      if (hasBareLineFeed(bytes, at)) throw invalid("a malformed head");
      return -1;
    }
    const text = bytes.toString("latin1", at, end);
    if (!HEAD.test(text)) throw invalid("a malformed head");
    const head = new ResponseHead(text);
    // Interim responses precede the final response. Status 101 is refused: no request asks for another protocol.
    if (head.status === 101) throw invalid("another protocol");
    if (head.status < 200) {
      if (++this.#interim > MAX_INTERIM) throw invalid("too many interim responses");
      return end + 4;
    }
    this.#isReusable = head.isPersistent && !isMaybeUnasked(head.status);
    this.#state = this.#bodyOf(head);
    this.#listener.head(head);
    if (this.#state === "done") this.#end();
    return end + 4;
  }

  /** Returns the state in which to read the body, which depends on how the body's length is given (RFC 9112, 6.3). */
  #bodyOf({ status, headers }: ResponseHead): State {
    const length = headers.get("content-length");
    const coding = headers.get("transfer-encoding");
    if (coding !== null) {
      if (length !== null) throw invalid("two lengths");
      if (coding.toLowerCase() !== "chunked") throw invalid("an unknown transfer coding");
      return "chunk size";
    }
    if (status === 204 || status === 304) return "done";
    if (length === null) {
      this.#isReusable = false;
      return "until close";
    }
    // Repeated `content-length` fields arrive joined by commas, so they are refused even if they are equal.
    if (!/^\d{1,15}$/.test(length)) throw invalid("an unreadable length");
    this.#left = Number(length);
    return this.#left === 0 ? "done" : "sized";
  }

  #readSized(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#left);
    this.#left -= end - at;
    if (end - at < SMALL_CHUNK_BYTES && bytes.length >= SMALL_CHUNK_BYTES)
      this.#joined.appendShort(bytes, at, end);
    else this.#giveBody(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end));
    if (this.#left > 0) return end;
    if (this.#state === "chunk") this.#state = "chunk end";
    else this.#end();
    return end;
  }

  #readChunkSize(bytes: Buffer, at: number): number {
    const end = endOfSizeLine(bytes, at);
    if (end < 0) return needMore(bytes.length - at);
    let size = 0;
    let index = at;
    for (; index < end; index++) {
      const digit = hexadecimal(bytes[index] ?? 0);
      if (digit < 0) break;
      size = size * 16 + digit;
    }
    if (index === at || index - at > 12 || !isEndOfSize(bytes, index, end))
      throw invalid("an unreadable chunk size");
    this.#left = size;
    this.#state = size === 0 ? "trailer" : "chunk";
    return end + 1;
  }

  #readChunkEnd(bytes: Buffer, at: number): number {
    if (bytes.length - at < 2) return -1;
    if (bytes[at] !== CARRIAGE_RETURN || bytes[at + 1] !== LINE_FEED)
      throw invalid("a chunk that does not match its size");
    this.#state = "chunk size";
    return at + 2;
  }

  /** Skips the trailer fields. */
  #readTrailer(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(LINE_FEED, at);
    if (end < 0) return needMore(bytes.length - at);
    this.#trailerBytes += end + 1 - at;
    if (this.#trailerBytes > MAX_TRAILER_BYTES) throw invalid("a trailer that is too long");
    if (end - at === 1 && bytes[at] === CARRIAGE_RETURN) this.#end();
    return end + 1;
  }

  #giveBody(piece: Buffer): void {
    this.#giveJoined();
    this.#listener.body(piece);
  }

  #giveJoined(): void {
    if (this.#joined.length > 0) this.#listener.body(this.#joined.take());
  }

  #end(): void {
    this.#giveJoined();
    this.#state = "done";
    this.#listener.end(this.#isReusable);
  }

  #hold(bytes: Buffer, at: number): void {
    // Makes a copy, because a view would keep the rest of the buffer in memory.
    this.#held = Buffer.from(bytes.subarray(at));
  }
}

/**
 * True for statuses that servers and load balancers also send without a request: on an unused connection, or when they
 * fail after a response. The connection is then closed: its next request could get such a response.
 */
function isMaybeUnasked(status: number): boolean {
  return status === 408 || status >= 500;
}

/**
 * Returns the end of a line with a chunk's size. The line nearly always ends within a few bytes, and for so few bytes
 * this loop costs less than a call of the runtime.
 */
function endOfSizeLine(bytes: Buffer, from: number): number {
  const near = Math.min(bytes.length, from + 8);
  for (let at = from; at < near; at++) if (bytes[at] === LINE_FEED) return at;
  return bytes.indexOf(LINE_FEED, near);
}

function hasBareLineFeed(bytes: Buffer, from: number): boolean {
  for (let at = bytes.indexOf(LINE_FEED, from); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1))
    if (at === from || bytes[at - 1] !== CARRIAGE_RETURN) return true;
  return false;
}

function needMore(heldBytes: number): -1 {
  if (heldBytes > MAX_LINE_BYTES) throw invalid("a line that is too long");
  return -1;
}

/**
 * True when the line ends after the size, or continues with white space or an extension. Both are ignored (RFC 9112,
 * 7.1.1).
 */
function isEndOfSize(bytes: Buffer, at: number, end: number): boolean {
  if (bytes[end - 1] !== CARRIAGE_RETURN) return false;
  return at === end - 1 || bytes[at] === 0x3b || bytes[at] === 0x20 || bytes[at] === 0x09;
}

function hexadecimal(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

function invalid(what: string): HttpError {
  return new HttpError("invalid", `the response has ${what}`);
}
