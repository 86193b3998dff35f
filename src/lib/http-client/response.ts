import type { ByteStream, ReadResult } from "../byte-stream.ts";
import { GrowingBuffer } from "../growing-buffer.ts";
import { ownValue } from "../json.ts";

/** Maximum bytes of a body that wait for the reader. The connection is paused while more bytes wait. */
const MAX_WAITING_BYTES = 256 * 1024;
/** Maximum number of pieces that wait for the reader, because a small piece takes more memory than its bytes. */
const MAX_WAITING_PIECES = 1024;

/** The connection on which a response arrives. */
export interface BodySource {
  suspend(): void;
  resume(): void;
  close(): void;
}

interface Waiting {
  resolve(result: ReadResult): void;
  reject(error: unknown): void;
}

/** A response whose head is complete. The body can be read once: by `text` or `arrivedText`, or from `body`. */
export class HttpResponse {
  readonly status: number;
  readonly headers: HeaderFields;
  /** The body without its content coding, if the coding is a known one. */
  readonly body: ByteStream;

  constructor({ status, headers }: ResponseHead, body: ResponseBody) {
    this.status = status;
    this.headers = headers;
    this.body = decode(body, headers.get("content-encoding"));
  }

  async text(): Promise<string> {
    const { body } = this;
    if (!(body instanceof ResponseBody)) return decoder.decode(Buffer.concat(await Array.fromAsync(body)));
    return this.arrivedText() ?? decoder.decode(await body.bytes());
  }

  /** Returns the whole text if it has already arrived and needs no decompression, otherwise null. */
  arrivedText(): string | null {
    const whole = this.body instanceof ResponseBody ? this.body.takeWhole() : null;
    return whole && decoder.decode(whole);
  }
}

const decoder = new TextDecoder();

const DECODERS: Readonly<Record<string, ConstructorParameters<typeof DecompressionStream>[0]>> = {
  gzip: "gzip",
  "x-gzip": "gzip",
  deflate: "deflate",
  br: "brotli",
  zstd: "zstd",
};

/** Decodes the body, because some servers send an unrequested coding. A body in an unknown coding is not changed. */
function decode(body: ResponseBody, coding: string | null): ByteStream {
  const format = coding === null ? undefined : ownValue(DECODERS, coding.toLowerCase());
  if (!format) return body;
  const encoded = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const { done, value } = await body.read();
      if (done || !value) controller.close();
      else controller.enqueue(value);
    },
    cancel: () => body.cancel(),
  });
  return encoded.pipeThrough(new DecompressionStream(format)) as ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** The bytes of a body as they arrive. The connection is read only as fast as the reader reads the body. */
export class ResponseBody implements ByteStream {
  readonly #source: BodySource;
  #pieces: Buffer<ArrayBuffer>[] = [];
  #waitingBytes = 0;
  #waiting: Waiting | null = null;
  #isSuspended = false;
  #isComplete = false;
  #error: unknown = null;

  constructor(source: BodySource) {
    this.#source = source;
  }

  getReader(): this {
    return this;
  }

  /**
   * Returns the bytes since the last call in one piece, and waits if there are none. Rejects when the connection failed
   * before the end of the body. One call at a time.
   */
  read(): Promise<ReadResult> {
    if (this.#pieces.length > 0) return Promise.resolve({ done: false, value: this.#take() });
    if (this.#isComplete) return Promise.resolve({ done: true });
    if (this.#error !== null) return Promise.reject(this.#error);
    return new Promise((resolve, reject) => (this.#waiting = { resolve, reject }));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    try {
      for (;;) {
        const { done, value } = await this.read();
        if (done || !value) return;
        yield value;
      }
    } finally {
      await this.cancel();
    }
  }

  /** Returns the unread bytes if the whole body has already arrived, otherwise null. */
  takeWhole(): Uint8Array | null {
    return this.#isComplete ? this.#take() : null;
  }

  async bytes(): Promise<Uint8Array> {
    const whole = new GrowingBuffer();
    for (;;) {
      if (this.#pieces.length > 0) {
        const piece = this.#take();
        if (this.#isComplete && whole.length === 0) return piece;
        whole.append(piece);
      }
      if (this.#isComplete) return whole.take();
      const { value } = await this.read();
      if (value) whole.append(value);
    }
  }

  /** Stops reading. Closes the connection unless the whole body has arrived. */
  async cancel(): Promise<void> {
    this.#pieces = [];
    if (!this.#isComplete && this.#error === null) this.#source.close();
  }

  push(piece: Buffer<ArrayBuffer>): void {
    if (this.#waiting) return this.#deliver({ done: false, value: piece });
    this.#pieces.push(piece);
    this.#waitingBytes += piece.length;
    const isFew = this.#waitingBytes <= MAX_WAITING_BYTES && this.#pieces.length <= MAX_WAITING_PIECES;
    if (isFew || this.#isSuspended) return;
    this.#isSuspended = true;
    this.#source.suspend();
  }

  /** Marks the body as complete. From now on the body does not use the connection, which may serve another request. */
  complete(): void {
    this.#isComplete = true;
    this.#resume();
    this.#deliver({ done: true });
  }

  fail(error: unknown): void {
    this.#error = error;
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.reject(error);
  }

  #deliver(result: ReadResult): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.resolve(result);
  }

  #take(): Buffer<ArrayBuffer> {
    const pieces = this.#pieces;
    const piece = pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces);
    this.#pieces = [];
    this.#waitingBytes = 0;
    this.#resume();
    return piece;
  }

  #resume(): void {
    if (!this.#isSuspended) return;
    this.#isSuspended = false;
    this.#source.resume();
  }
}

/** The status and fields of a response. */
export class ResponseHead {
  readonly status: number;
  readonly headers: HeaderFields;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
    this.status = Number(text.slice(9, 12));
    this.headers = new HeaderFields(text);
  }

  /** True when the other side keeps the connection open after the response (RFC 9112, 9.3). */
  get isPersistent(): boolean {
    const options = this.headers.get("connection")?.toLowerCase();
    if (options?.includes("close")) return false;
    return this.#text.startsWith("HTTP/1.1") || (options?.includes("keep-alive") ?? false);
  }
}

/** Header fields as they arrived. A field is searched only when it is read, because a call reads only a few fields. */
class HeaderFields {
  readonly #text: string;
  readonly #lower: string;

  constructor(head: string) {
    this.#text = head;
    this.#lower = head.toLowerCase();
  }

  has(name: string): boolean {
    return this.#lower.includes(startOf(name));
  }

  /** Returns all values of a field, joined by commas, or null when there are none. `name` is in lower case. */
  get(name: string): string | null {
    const needle = startOf(name);
    let joined: string | null = null;
    for (
      let at = this.#lower.indexOf(needle);
      at >= 0;
      at = this.#lower.indexOf(needle, at + needle.length)
    ) {
      const start = at + needle.length;
      const end = this.#text.indexOf("\r", start);
      const value = this.#text.slice(start, end < 0 ? undefined : end).trim();
      joined = joined === null ? value : `${joined}, ${value}`;
    }
    return joined;
  }
}

const STARTS = new Map<string, string>();

/** Returns the text with which a field begins. The texts are cached, because only a few fields are ever read. */
function startOf(name: string): string {
  const known = STARTS.get(name);
  if (known !== undefined) return known;
  const start = `\n${name}:`;
  STARTS.set(name, start);
  return start;
}
