/**
 * The mock upstream: a chat completions vendor that needs as little processor time as possible. The mock has one model
 * and writes each stream frame separately. Usage: `bun bench/mock.ts [port]`.
 */
import type { Socket } from "bun";
import { chatReplyBody, paceOf, streamFrames, UPSTREAM_MODEL } from "./chat-samples.ts";
import { MessageReader } from "./http-message.ts";

interface Connection {
  reader: MessageReader;
  body: Buffer[];
  /** Bytes that the socket has not accepted yet. */
  unsent: Buffer | undefined;
}

interface OpenStream {
  socket: Socket<Connection>;
  frames: readonly Buffer[];
  next: number;
  paceMs: number;
  dueAt: number;
}

const WHOLE_REPLY = plainReply("200 OK", chatReplyBody());
const UNKNOWN_MODEL = plainReply(
  "404 Not Found",
  '{"error":{"message":"unknown model","code":"model_not_found"}}',
);
const STREAM_WITH_USAGE = wireFrames(true);
const STREAM_WITHOUT_USAGE = wireFrames(false);

/** Writes the frames of streams with an interval. The timer runs only while a stream with an interval is open. */
class StreamPacer {
  readonly #streams = new Set<OpenStream>();
  #timer: Timer | undefined;

  add(stream: OpenStream): void {
    this.#streams.add(stream);
    this.#timer ??= setInterval(() => this.#sweep(), 1);
  }

  forget(socket: Socket<Connection>): void {
    for (const stream of this.#streams) if (stream.socket === socket) this.#streams.delete(stream);
  }

  #sweep(): void {
    const now = performance.now();
    for (const stream of this.#streams) {
      if (stream.dueAt > now) continue;
      writeFrame(stream);
      if (stream.next >= stream.frames.length) this.#streams.delete(stream);
    }
    if (this.#streams.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

const pacer = new StreamPacer();

const server = Bun.listen<Connection>({
  hostname: "127.0.0.1",
  port: Number(process.argv[2] ?? 0),
  socket: {
    open(socket) {
      socket.setNoDelay(true);
      const body: Buffer[] = [];
      const reader = new MessageReader({
        head: () => void (body.length = 0),
        body: (bytes, start, end) => void body.push(Buffer.from(bytes.subarray(start, end))),
        end: () => respond(socket, body),
      });
      socket.data = { reader, body, unsent: undefined };
    },
    data: (socket, data) => socket.data.reader.push(data),
    drain(socket) {
      const unsent = socket.data.unsent;
      socket.data.unsent = undefined;
      if (unsent) write(socket, unsent);
    },
    close: forget,
    error: forget,
  },
});

console.log(`listening ${server.port}`);

function respond(socket: Socket<Connection>, body: Buffer[]): void {
  const request = JSON.parse(Buffer.concat(body).toString());
  if (request.model !== UPSTREAM_MODEL) return write(socket, UNKNOWN_MODEL);
  if (!request.stream) return write(socket, WHOLE_REPLY);
  const frames = request.stream_options?.include_usage ? STREAM_WITH_USAGE : STREAM_WITHOUT_USAGE;
  const stream = { socket, frames, next: 0, paceMs: paceOf(request.user), dueAt: performance.now() };
  writeFrame(stream);
  if (stream.paceMs > 0) pacer.add(stream);
  else flushPending(stream);
}

/** Writes one frame in each turn of the event loop, for a stream without an interval. */
function flushPending(stream: OpenStream): void {
  setImmediate(() => {
    writeFrame(stream);
    if (stream.next < stream.frames.length && stream.socket.readyState > 0) flushPending(stream);
  });
}

function writeFrame(stream: OpenStream): void {
  const frame = stream.frames[stream.next++];
  stream.dueAt += stream.paceMs;
  if (frame) write(stream.socket, frame);
}

function write(socket: Socket<Connection>, bytes: Buffer): void {
  const { unsent } = socket.data;
  if (unsent) {
    socket.data.unsent = Buffer.concat([unsent, bytes]);
    return;
  }
  const taken = socket.write(bytes);
  if (taken < bytes.length) socket.data.unsent = bytes.subarray(Math.max(taken, 0));
}

function forget(socket: Socket<Connection>): void {
  pacer.forget(socket);
}

function plainReply(status: string, body: string): Buffer {
  const head = `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  return Buffer.from(head + body);
}

/** Returns each frame as one HTTP chunk. The response head precedes the first, the closing chunk follows the last. */
function wireFrames(includeUsage: boolean): Buffer[] {
  const frames = streamFrames(includeUsage);
  const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
  return frames.map((frame, index) => {
    const chunk = `${frame.length.toString(16)}\r\n${frame}\r\n`;
    return Buffer.from((index === 0 ? head : "") + chunk + (index === frames.length - 1 ? "0\r\n\r\n" : ""));
  });
}
