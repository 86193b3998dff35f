import { isIP } from "node:net";
import type { Socket, SocketHandler } from "bun";
import type { Cancellation } from "../waiting.ts";
import type { NetworkGuard } from "../network-guard.ts";
import { HttpError } from "./http-error.ts";
import { type BodySource, HttpResponse, ResponseBody, type ResponseHead } from "./response.ts";
import { type ResponseListener, ResponseReader } from "./response-reader.ts";

/** The server at the other end of a connection. */
export interface ServerOrigin {
  hostname: string;
  port: number;
  isTls: boolean;
  /** Replaces the system's certificate authorities (PEM), for tests. */
  certificateAuthority?: string | undefined;
  /** Limits the addresses to connect to. Without a guard every address is allowed. */
  guard?: NetworkGuard | undefined;
}

/** Seconds for which an unused connection stays open. Vendors' load balancers close such connections after a minute. */
const IDLE_SECONDS = 30;

interface InFlight {
  resolve(response: HttpResponse): void;
  reject(error: unknown): void;
  body: ResponseBody | null;
  signal: Cancellation;
  onAbort(): void;
}

/** A connection that carries one request at a time. */
export class Connection implements ResponseListener, BodySource {
  readonly #origin: ServerOrigin;
  /** Called when the connection can be used for another request. */
  readonly #onIdle: (connection: Connection) => void;
  #socket: Socket<Connection> | null = null;
  #isClosed = false;
  #inFlight: InFlight | null = null;
  #reader = new ResponseReader(this);
  /** The bytes that the socket has not taken yet. */
  #unsent: Buffer | null = null;
  /** The part of the body that is sent after `#unsent`. */
  #unsentBody: Buffer | null = null;
  #isSending = false;
  #isReusable = false;

  constructor(origin: ServerOrigin, onIdle: (connection: Connection) => void) {
    this.#origin = origin;
    this.#onIdle = onIdle;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /**
   * Connects if necessary and sends the request. Resolves with the response when its head is complete. The request's
   * bytes must be valid until this call returns.
   */
  exchange({ head, body }: RequestBytes, signal: Cancellation): Promise<HttpResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>();
    const onAbort = (): void => this.#close(signal.reason);
    this.#inFlight = { resolve, reject, body: null, signal, onAbort };
    signal.addEventListener("abort", onAbort, { once: true });
    this.#unsentBody = body;
    if (this.#socket) {
      this.#socket.timeout(0);
      this.#socket.ref();
      this.#send(this.#socket, head);
    } else {
      this.#unsent = copyOf(head);
      this.#connect().catch((error: unknown) => this.failed(error));
    }
    return promise;
  }

  /** Keeps the connection open for its next request. */
  rest(): void {
    this.#socket?.timeout(IDLE_SECONDS);
    this.#socket?.unref();
  }

  close(): void {
    this.#close(this.#failure());
  }

  suspend(): void {
    this.#socket?.pause();
  }

  resume(): void {
    this.#socket?.resume();
  }

  head(head: ResponseHead): void {
    const inFlight = this.#inFlight;
    if (!inFlight) return;
    inFlight.body = new ResponseBody(this);
    inFlight.resolve(new HttpResponse(head, inFlight.body));
  }

  body(piece: Buffer<ArrayBuffer>): void {
    this.#inFlight?.body?.push(piece);
  }

  end(isReusable: boolean): void {
    // If the response comes before the whole request is sent, the connection cannot be reused: its state is unknown.
    this.#isReusable = isReusable && this.#unsent === null;
    this.#finish()?.body?.complete();
  }

  async #connect(): Promise<void> {
    const { hostname, port, isTls, certificateAuthority: ca, guard } = this.#origin;
    const tls = isTls && {
      ...(isIP(hostname) === 0 && { serverName: hostname }),
      ...(ca !== undefined && { ca }),
      rejectUnauthorized: true,
      ALPNProtocols: "http/1.1",
    };
    const options = { port, socket: HANDLERS, data: this, ...(tls && { tls }) };
    const addresses = guard ? await guard.addressesOf(hostname) : [hostname];
    let failure: unknown;
    for (const address of addresses) {
      if (this.#isClosed) return;
      try {
        await Bun.connect<Connection>({ ...options, hostname: address });
        return;
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }

  opened(socket: Socket<Connection>): void {
    if (this.#isClosed) return void socket.terminate();
    this.#socket = socket;
    socket.setNoDelay(true);
    if (!this.#origin.isTls) this.#send(socket);
  }

  /** Called after the TLS handshake. The error names the problem of the certificate: authority, time or name. */
  secured(socket: Socket<Connection>, isSuccess: boolean, error: Error | null): void {
    if (error || !isSuccess) this.failed(error);
    else if (!this.#isClosed) this.#send(socket);
  }

  received(bytes: Buffer<ArrayBuffer>): void {
    // Bytes that arrive while no request runs make the connection unusable.
    if (!this.#inFlight) return this.close();
    try {
      this.#reader.push(bytes);
    } catch (error) {
      return this.#close(error);
    }
    if (this.#inFlight) return;
    if (!this.#isReusable || this.#isClosed) return this.close();
    this.#reader = new ResponseReader(this);
    this.#onIdle(this);
  }

  drained(socket: Socket<Connection>): void {
    if (this.#isSending) this.#send(socket);
  }

  /** Called when the other side closed the connection. For a body of unknown length, this is the end of the body. */
  ended(error?: unknown): void {
    if (error || !this.#inFlight || !this.#isSending) return this.failed(error);
    try {
      this.#reader.close();
      this.close();
    } catch (thrown) {
      this.#close(thrown);
    }
  }

  failed(cause: unknown): void {
    this.#close(this.#failure(cause));
  }

  #failure(cause?: unknown): HttpError {
    return new HttpError(this.#isSending ? "closed" : "unsent", "the connection failed", cause);
  }

  #send(socket: Socket<Connection>, bytes: Buffer | null = this.#unsent): void {
    if (!bytes) return;
    this.#isSending = true;
    const sent = Math.max(0, socket.write(bytes));
    this.#unsent = sent < bytes.length ? copyOf(bytes.subarray(sent)) : null;
    if (this.#unsent || !this.#unsentBody) return;
    this.#unsent = this.#unsentBody;
    this.#unsentBody = null;
    this.#send(socket);
  }

  #finish(): InFlight | null {
    const inFlight = this.#inFlight;
    this.#inFlight = null;
    this.#isSending = false;
    inFlight?.signal.removeEventListener("abort", inFlight.onAbort);
    return inFlight;
  }

  #close(error: unknown): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#unsent = null;
    this.#unsentBody = null;
    const inFlight = this.#finish();
    this.#socket?.terminate();
    if (!inFlight) return;
    if (inFlight.body) inFlight.body.fail(error);
    else inFlight.reject(error);
  }
}

/** The socket handlers that all connections share. */
const HANDLERS: SocketHandler<Connection> = {
  binaryType: "buffer",
  open: (socket) => socket.data.opened(socket),
  handshake: (socket, isSuccess, error) => socket.data.secured(socket, isSuccess, error),
  data: (socket, bytes) => socket.data.received(bytes as Buffer<ArrayBuffer>),
  drain: (socket) => socket.data.drained(socket),
  end: (socket) => socket.data.ended(),
  close: (socket, error) => socket.data.ended(error),
  error: (socket, error) => socket.data.failed(error),
  // Does nothing: the promise of the connection attempt also rejects, and the code that awaits it tries another
  // address.
  connectError: () => {},
  timeout: (socket) => socket.data.close(),
};

/** The buffer for all requests that fit into it, used so often that it stays in the processor's caches. */
const SHARED = Buffer.allocUnsafeSlow(64 * 1024);
/** Bytes reserved for the rest of the head: the digits of `content-length`, the line ends and `traceparent`. */
const REST_ROOM = 96;
/** Maximum bytes of one UTF-16 code unit in UTF-8. */
const MAX_BYTES_A_UNIT = 3;

const encoder = new TextEncoder();

/** The bytes of a request: the head, then the body. */
interface RequestBytes {
  /**
   * The head, followed by the body if that is small. The bytes are valid until the next request is written; `copyOf`
   * returns a copy that stays valid.
   */
  head: Buffer;
  /** The body; null when `head` contains it. */
  body: Buffer | null;
}

/** Writes a request. `prelude` ends with `content-length: `. `traceparent` is a header; undefined without a trace. */
export function writeRequest(prelude: string, body: string, traceparent?: string): RequestBytes {
  const bodyStart = prelude.length + REST_ROOM;
  if (bodyStart + body.length * MAX_BYTES_A_UNIT > SHARED.length)
    return writeLarge(prelude, body, traceparent);
  const length = SHARED.write(body, bodyStart);
  const head = headOf(prelude, length, traceparent);
  const start = bodyStart - head.length;
  SHARED.write(head, start, "latin1");
  return { head: SHARED.subarray(start, bodyStart + length), body: null };
}

/**
 * Encodes the text in one step. The runtime stores a long string in parts, and this encoder reads the parts without
 * joining them. Every other way to read the string would join them first, at five times the cost.
 */
function writeLarge(prelude: string, body: string, traceparent: string | undefined): RequestBytes {
  const { buffer, byteOffset, byteLength } = encoder.encode(body);
  const head = Buffer.from(headOf(prelude, byteLength, traceparent), "latin1");
  return { head, body: Buffer.from(buffer, byteOffset, byteLength) };
}

function headOf(prelude: string, length: number, traceparent: string | undefined): string {
  const last = traceparent === undefined ? "\r\n" : `traceparent: ${traceparent}\r\n\r\n`;
  return `${prelude}${length}\r\n${last}`;
}

/** Returns the bytes, or a copy of them if the next request would overwrite them. */
export function copyOf(bytes: Buffer): Buffer {
  return bytes.buffer === SHARED.buffer ? Buffer.from(bytes) : bytes;
}
