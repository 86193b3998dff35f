import type { Socket } from "bun";
import { MessageReader } from "./http-message.ts";

/**
 * One keep-alive connection with at most one running request. The connection uses a raw socket, so that the load
 * generator needs little processor time. Times are in milliseconds of `performance.now()`.
 */
export class ClientConnection {
  status = 0;
  sentAt = 0;
  /** Time at which the body's first byte arrived; 0 before that. */
  firstByteAt = 0;
  #socket: Socket<ClientConnection> | undefined;
  #unsent: Buffer | undefined;
  #isBusy = false;

  private constructor(readonly events: ConnectionEvents) {}

  static async open(address: Address, events: ConnectionEvents): Promise<ClientConnection> {
    const connection = new ClientConnection(events);
    const reader = connection.#reader();
    connection.#socket = await Bun.connect<ClientConnection>({
      hostname: address.hostname,
      port: address.port,
      data: connection,
      socket: {
        open: (socket) => void socket.setNoDelay(true),
        data: (_, data) => reader.push(data),
        drain: () => connection.#flush(),
        close: () => connection.#lose(),
        error: () => connection.#lose(),
      },
    });
    return connection;
  }

  /** Sends a complete request. `onReply` is called when the response is complete. */
  send(request: Buffer): void {
    this.#isBusy = true;
    this.firstByteAt = 0;
    this.sentAt = performance.now();
    this.#unsent = request;
    this.#flush();
  }

  close(): void {
    this.#isBusy = false;
    this.#socket?.terminate();
  }

  #flush(): void {
    const bytes = this.#unsent;
    if (!bytes) return;
    const taken = Math.max(this.#socket?.write(bytes) ?? 0, 0);
    this.#unsent = taken < bytes.length ? bytes.subarray(taken) : undefined;
  }

  #lose(): void {
    if (!this.#isBusy) return;
    this.#isBusy = false;
    this.events.onLost(this);
  }

  #reader(): MessageReader {
    return new MessageReader({
      head: (text) => {
        this.status = Number(text.slice("HTTP/1.1 ".length, "HTTP/1.1 200".length));
        this.events.onHead?.(text);
      },
      body: (bytes, start, end) => {
        if (this.firstByteAt === 0) this.firstByteAt = performance.now();
        this.events.onBody?.(bytes, start, end);
      },
      end: () => {
        this.#isBusy = false;
        this.events.onReply(this);
      },
    });
  }
}

export interface Address {
  hostname: string;
  port: number;
}

export interface ConnectionEvents {
  onReply(connection: ClientConnection): void;
  /** Called when the connection ended before the response was complete. */
  onLost(connection: ClientConnection): void;
  onHead?(text: string): void;
  onBody?(bytes: Buffer, start: number, end: number): void;
}

export interface Reply {
  status: number;
  head: string;
  body: string;
}

/**
 * Sends one request on a new connection and returns the complete response. Rejects when the connection fails or is
 * lost.
 */
export async function exchange(address: Address, request: Buffer): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  let head = "";
  const pieces: Buffer[] = [];
  const connection = await ClientConnection.open(address, {
    onHead: (text) => void (head = text),
    onBody: (bytes, start, end) => void pieces.push(Buffer.from(bytes.subarray(start, end))),
    onReply: ({ status }) => resolve({ status, head, body: Buffer.concat(pieces).toString() }),
    onLost: () => reject(new Error(`${address.hostname}:${address.port} closed without a whole reply`)),
  });
  try {
    connection.send(request);
    return await promise;
  } finally {
    connection.close();
  }
}

export function wireRequest(request: {
  method: "GET" | "POST";
  path: string;
  key?: string;
  headers?: Record<string, string>;
  body?: string;
}): Buffer {
  const lines = [`${request.method} ${request.path} HTTP/1.1`, "host: 127.0.0.1", "accept: */*"];
  if (request.key !== undefined) lines.push(`authorization: Bearer ${request.key}`);
  for (const [name, value] of Object.entries(request.headers ?? {})) lines.push(`${name}: ${value}`);
  if (request.body !== undefined) {
    lines.push("content-type: application/json", `content-length: ${Buffer.byteLength(request.body)}`);
  }
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${request.body ?? ""}`);
}
