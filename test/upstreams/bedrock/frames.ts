import { crc32 } from "node:zlib";
import { frameData } from "../../../src/lib/sse.ts";
import { writeFrames } from "../anthropic/frames.ts";
import type { MessageReply } from "../anthropic/reply.ts";
import type { Behaviour } from "../behaviour.ts";

/** The counts in a stream's last event. */
export interface InvocationMetrics {
  inputTokenCount: number;
  outputTokenCount: number;
  invocationLatency: number;
  firstByteLatency: number;
}

/**
 * Yields the messages of a streamed reply. There are no pings. An error is an exception message, or an error message if
 * its code begins with a colon.
 */
export function* writeEventStream(
  reply: MessageReply,
  metrics: InvocationMetrics,
  behaviour: Behaviour,
): Generator<Buffer> {
  let sent = 0;
  for (const frame of writeFrames(reply, behaviour)) {
    const data = frameData(Buffer.from(frame));
    if (data === null || data === "[DONE]") continue;
    const event: { type: string } = JSON.parse(data);
    if (event.type === "ping") continue;
    if (event.type === "error") return yield writeException(behaviour);
    const own = event.type === "message_stop" ? { "amazon-bedrock-invocationMetrics": metrics } : {};
    const text = event.type === "message_stop" ? JSON.stringify({ ...event, ...own }) : data;
    const message = writeChunk(text);
    sent += 1;
    if (behaviour.fault === "damaged-frame" && sent > (behaviour.after ?? 0))
      message[message.length - 6]! ^= 1;
    yield message;
  }
}

/** Yields the messages' bytes in pieces whose sizes do not depend on the messages. */
export function* cutAnywhere(messages: Iterable<Buffer>): Generator<Buffer> {
  let rest: Buffer<ArrayBufferLike> = Buffer.alloc(0);
  let size = 1;
  for (const message of messages) {
    rest = Buffer.concat([rest, message]);
    while (rest.length > size) {
      yield rest.subarray(0, size);
      rest = rest.subarray(size);
      size = (size * 7 + 3) % 211;
    }
  }
  yield rest;
}

function writeChunk(event: string): Buffer {
  const bytes = Buffer.from(event).toString("base64");
  const padding = "abcdefghijklmnop".slice(0, event.length % 16);
  return writeMessage(
    { ":event-type": "chunk", ":content-type": "application/json", ":message-type": "event" },
    { bytes, p: padding },
  );
}

function writeException({ code = "modelStreamErrorException", text = "Trouble" }: Behaviour): Buffer {
  if (code.startsWith(":"))
    return writeMessage({ ":error-code": code.slice(1), ":error-message": text, ":message-type": "error" });
  return writeMessage(
    { ":exception-type": code, ":content-type": "application/json", ":message-type": "exception" },
    { message: text },
  );
}

/** Encodes a message with text headers (Amazon Transcribe guide, "Event stream encoding"). */
export function writeMessage(headers: Record<string, string>, payload?: unknown): Buffer {
  const encoded = Buffer.concat(
    Object.entries(headers).flatMap(([name, value]) => {
      const head = Buffer.from([name.length, ...Buffer.from(name), 7, 0, 0]);
      head.writeUInt16BE(Buffer.byteLength(value), head.length - 2);
      return [head, Buffer.from(value)];
    }),
  );
  const body = payload === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(payload));
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(12 + encoded.length + body.length + 4, 0);
  prelude.writeUInt32BE(encoded.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const end = Buffer.alloc(4);
  const whole = Buffer.concat([prelude, encoded, body]);
  end.writeUInt32BE(crc32(whole), 0);
  return Buffer.concat([whole, end]);
}
