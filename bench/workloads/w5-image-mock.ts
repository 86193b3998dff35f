/**
 * An image vendor that needs as little processor time as possible. Received bytes are only counted. Responses come from
 * two fixed buffers. Prints `listening <port>`.
 */
import type { Socket } from "bun";
import { MessageReader } from "../http-message.ts";
import { responseBody } from "./w5-samples.ts";

interface Connection {
  reader: MessageReader;
  received: number;
  unsent: Buffer | undefined;
}

/** A request counts as an upload when it has more bytes than this. */
const UPLOAD_BYTES = 1_000_000;
const SMALL = reply(responseBody(false));
const LARGE = reply(responseBody(true));

const server = Bun.listen<Connection>({
  hostname: "127.0.0.1",
  port: 0,
  socket: {
    open(socket) {
      socket.setNoDelay(true);
      const reader = new MessageReader({
        head: () => void (socket.data.received = 0),
        body: (_, start, end) => void (socket.data.received += end - start),
        end: () => write(socket, socket.data.received > UPLOAD_BYTES ? SMALL : LARGE),
      });
      socket.data = { reader, received: 0, unsent: undefined };
    },
    data: (socket, data) => socket.data.reader.push(data),
    drain(socket) {
      const { unsent } = socket.data;
      if (unsent) write(socket, unsent);
    },
  },
});

console.log(`listening ${server.port}`);

function write(socket: Socket<Connection>, bytes: Buffer): void {
  const taken = Math.max(socket.write(bytes), 0);
  socket.data.unsent = taken < bytes.length ? bytes.subarray(taken) : undefined;
}

function reply(body: string): Buffer {
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  return Buffer.from(head + body);
}
