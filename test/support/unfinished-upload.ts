import type { Socket } from "node:net";
import { until } from "./gateway.ts";
import { openSocket, writeRequest } from "./sockets.ts";

/** A request whose body is sent in pieces, or never completely. */
export interface UnfinishedUpload {
  socket: Socket;
  write(bytes: Uint8Array): Promise<void>;
  /** Waits for the first received data. Empty if the connection closes before. */
  response(): Promise<string>;
  /** Returns all data received until the gateway closes the connection. */
  ended(): Promise<string>;
}

/** Sends the headers of a request. */
export async function beginUpload(
  url: string,
  path: string,
  headers: Record<string, string>,
): Promise<UnfinishedUpload> {
  const socket = await openSocket(url);
  let received = "";
  let isClosed = false;
  socket.on("data", (piece: Buffer) => (received += piece.toString("latin1")));
  socket.once("close", () => (isClosed = true));
  const head = writeRequest({ path, headers });
  socket.write("content-length" in headers ? head : head.replace("content-length: 0\r\n", ""));
  return {
    socket,
    write: (bytes) =>
      new Promise((resolve) => {
        if (isClosed) resolve();
        else socket.write(bytes, () => resolve());
      }),
    response: () => until("a response", () => Promise.resolve(received || (isClosed ? "" : undefined))),
    ended: () => until("the end", () => Promise.resolve(isClosed ? received : undefined)),
  };
}
