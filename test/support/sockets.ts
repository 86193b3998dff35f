import { connect, type Socket } from "node:net";

/** A request as bytes, for behaviour that no client library has. */
export interface RawRequest {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

export function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  return new Promise((resolve, reject) => {
    socket.once("connect", () => resolve(socket));
    socket.once("error", reject);
    socket.on("error", () => {});
  });
}

export function writeRequest({ method = "POST", path, headers = {}, body = "" }: RawRequest): string {
  const lines = Object.entries({
    host: "gateway.test",
    "content-length": String(Buffer.byteLength(body)),
    ...headers,
  })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");
  return `${method} ${path} HTTP/1.1\r\n${lines}\r\n${body}`;
}

/**
 * Sends bytes. Returns all data received until the response is complete, the connection ends, or is silent for
 * `silenceMs`.
 */
export async function exchange(url: string, bytes: string | Uint8Array, silenceMs = 1_000): Promise<string> {
  const socket = await openSocket(url);
  const pieces: Buffer[] = [];
  return new Promise((resolve) => {
    const end = () => {
      socket.destroy();
      resolve(Buffer.concat(pieces).toString("latin1"));
    };
    let timer = setTimeout(end, silenceMs);
    socket.on("data", (piece: Buffer) => {
      pieces.push(piece);
      clearTimeout(timer);
      timer = setTimeout(end, isComplete(Buffer.concat(pieces)) ? 0 : silenceMs);
    });
    socket.on("close", () => {
      clearTimeout(timer);
      end();
    });
    socket.write(bytes);
  });
}

/** True when the bytes are a complete response with a content length. */
function isComplete(bytes: Buffer): boolean {
  const end = bytes.indexOf("\r\n\r\n");
  const length = /\r\ncontent-length: (\d+)/i.exec(bytes.toString("latin1", 0, Math.max(end, 0)))?.[1];
  return length !== undefined && bytes.length >= end + 4 + Number(length);
}

export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
}
