import { createServer, type Server, type Socket } from "node:net";

/** A complete request, as it arrived. Header names are in lower case. */
export interface ReceivedRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: Record<string, string>;
  body: Buffer<ArrayBuffer>;
}

export type Handle = (request: ReceivedRequest, response: SimulatedResponse) => Promise<void>;

/**
 * An HTTP/1.1 server on a free loopback port. It uses sockets directly, so that tests can violate the protocol: a
 * response can be cut anywhere by FIN or RST, and disconnections are seen.
 */
export async function listen(handle: Handle): Promise<{ port: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    void serveConnection(socket, handle);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: portOf(server),
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return address.port;
}

async function serveConnection(socket: Socket, handle: Handle): Promise<void> {
  const inbox = new Inbox(socket);
  for (;;) {
    const request = await readRequest(inbox);
    if (!request || socket.destroyed) return;
    const response = new SimulatedResponse(socket);
    await handle(request, response);
    if (!response.isFinished || socket.destroyed) return;
  }
}

/** Bytes that have arrived but are not read yet. */
class Inbox {
  private waiting: Buffer[] = [];
  private wake: (() => void) | undefined;
  private hasEnded = false;

  constructor(socket: Socket) {
    socket.on("data", (bytes: Buffer) => {
      this.waiting.push(bytes);
      this.wake?.();
    });
    socket.on("close", () => {
      this.hasEnded = true;
      this.wake?.();
    });
  }

  /** Returns the next bytes, or null when the client has disconnected. */
  async take(): Promise<Buffer | null> {
    while (this.waiting.length === 0) {
      if (this.hasEnded) return null;
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
    const bytes = Buffer.concat(this.waiting);
    this.waiting = [];
    return bytes;
  }

  putBack(bytes: Buffer): void {
    if (bytes.byteLength > 0) this.waiting.unshift(bytes);
  }
}

async function readRequest(inbox: Inbox): Promise<ReceivedRequest | null> {
  let head = Buffer.alloc(0);
  let end = -1;
  while (end < 0) {
    const bytes = await inbox.take();
    if (!bytes) return null;
    head = Buffer.concat([head, bytes]);
    end = head.indexOf("\r\n\r\n");
  }
  inbox.putBack(head.subarray(end + 4));
  const [first = "", ...lines] = head.toString("latin1", 0, end).split("\r\n");
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const [method = "", target = ""] = first.split(" ");
  const url = new URL(target, "http://simulator");
  const body = await readBody(inbox, headers);
  return body && { method, path: url.pathname, query: url.searchParams, headers, body };
}

async function readBody(inbox: Inbox, headers: Record<string, string>): Promise<Buffer<ArrayBuffer> | null> {
  if (headers["transfer-encoding"] === "chunked") return readChunked(inbox);
  return readExactly(inbox, Number(headers["content-length"] ?? 0));
}

async function readExactly(inbox: Inbox, length: number): Promise<Buffer<ArrayBuffer> | null> {
  const body = Buffer.alloc(length);
  for (let filled = 0; filled < length;) {
    const bytes = await inbox.take();
    if (!bytes) return null;
    const used = bytes.copy(body, filled);
    filled += used;
    inbox.putBack(bytes.subarray(used));
  }
  return body;
}

async function readChunked(inbox: Inbox): Promise<Buffer<ArrayBuffer> | null> {
  const pieces: Buffer[] = [];
  for (;;) {
    const size = await readLine(inbox);
    if (size === null) return null;
    const piece = await readExactly(inbox, Number.parseInt(size, 16));
    if (!piece || (await readLine(inbox)) === null) return null;
    if (piece.byteLength === 0) return Buffer.concat(pieces);
    pieces.push(piece);
  }
}

async function readLine(inbox: Inbox): Promise<string | null> {
  let line = Buffer.alloc(0);
  for (;;) {
    const bytes = await inbox.take();
    if (!bytes) return null;
    line = Buffer.concat([line, bytes]);
    const end = line.indexOf("\r\n");
    if (end < 0) continue;
    inbox.putBack(line.subarray(end + 2));
    return line.toString("latin1", 0, end);
  }
}

/** One response. Writes wait while the client does not read. After a disconnection, writes do nothing. */
export class SimulatedResponse {
  status: number | null = null;
  /** True when the last byte is written to the socket. */
  isFinished = false;
  private isChunked = false;
  private readonly listeners: (() => void)[] = [];

  constructor(private readonly socket: Socket) {}

  get isClosed(): boolean {
    return this.socket.destroyed;
  }

  /** Calls `listener` when the client disconnects before the response is complete. */
  onClose(listener: () => void): void {
    if (this.socket.destroyed) return listener();
    this.listeners.push(listener);
    this.socket.once("close", listener);
  }

  /** Sends status and headers. Without a content length, the body is sent in chunks. */
  async start(status: number, headers: Record<string, string>): Promise<void> {
    this.status = status;
    this.isChunked = headers["content-length"] === undefined;
    const all = this.isChunked ? { ...headers, "transfer-encoding": "chunked" } : headers;
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    await this.writeRaw(`HTTP/1.1 ${status} Simulated\r\n${lines.join("")}\r\n`);
  }

  async write(bytes: Uint8Array | string): Promise<void> {
    const data = Buffer.from(bytes);
    if (data.byteLength === 0) return;
    if (!this.isChunked) return this.writeRaw(data);
    return this.writeRaw(Buffer.concat([Buffer.from(`${data.byteLength.toString(16)}\r\n`), data, CRLF]));
  }

  async end(): Promise<void> {
    if (this.isChunked) await this.writeRaw("0\r\n\r\n");
    this.isFinished = !this.isClosed;
    this.forgetListeners();
  }

  /** Writes bytes without HTTP framing. */
  async writeRaw(bytes: Uint8Array | string): Promise<void> {
    if (this.isClosed || this.socket.write(bytes)) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        this.socket.off("drain", done).off("close", done);
        resolve();
      };
      this.socket.on("drain", done).on("close", done);
    });
  }

  /** Ends the connection by FIN, after bytes that are still queued, or by RST. */
  cut(how: "fin" | "rst"): void {
    this.forgetListeners();
    if (how === "rst") this.socket.resetAndDestroy();
    else this.socket.end();
  }

  private forgetListeners(): void {
    for (const listener of this.listeners.splice(0)) this.socket.off("close", listener);
  }

  /** Waits for the client to disconnect. */
  async closed(): Promise<void> {
    await new Promise<void>((resolve) => this.onClose(resolve));
  }
}

const CRLF = Buffer.from("\r\n");
