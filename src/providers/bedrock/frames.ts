import { parseBounded } from "../../lib/parse-json.ts";
import { EventStreamCodec } from "@smithy/eventstream-codec";
import { GrowingBuffer } from "../../lib/growing-buffer.ts";
import { isObject } from "../../lib/json.ts";
import { brokenResponse } from "../transport/http.ts";

/**
 * A message of an event stream. All AWS services use this format (Amazon Transcribe guide, "Event stream encoding").
 */
export interface Frame {
  /** `event`, `exception` or `error`. */
  kind: string;
  /** The name of the event or of the failure. */
  name: string;
  payload: Record<string, unknown>;
  /** Description of a failure that has no payload. */
  message: string;
}

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === "string" ? bytes : Buffer.from(bytes).toString()),
  (text) => Buffer.from(text),
);

/** Length of a message without headers and payload. */
const MIN_BYTES = 16;
/** Maximum length of a message: the longest payload (16 MiB), the longest headers (128 KiB) and a margin. */
const MAX_BYTES = (16 * 1024 + 128 + 1) * 1024;

/** Splits a byte stream into messages, for any division into chunks. Checks each length and both checksums. */
export class FrameReader {
  readonly #rest = new GrowingBuffer();
  /** Number of bytes of the next message, or of its beginning while its length is unknown. */
  #needed = MIN_BYTES;

  /** Yields the complete messages. Throws `broken` at the first invalid message. */
  *push(chunk: Uint8Array): Generator<Frame> {
    this.#rest.append(chunk);
    if (this.#rest.length < this.#needed) return;
    let rest = this.#rest.take();
    while (rest.length >= MIN_BYTES) {
      this.#needed = lengthOf(rest);
      if (rest.length < this.#needed) break;
      const frame = rest.subarray(0, this.#needed);
      rest = rest.subarray(this.#needed);
      this.#needed = MIN_BYTES;
      yield decode(frame);
    }
    this.#rest.append(rest);
  }

  /** Ends the stream. Throws `broken` when a message is incomplete. */
  end(): void {
    if (this.#rest.length > 0) throw brokenResponse("cut a message of its stream");
  }
}

function lengthOf(bytes: Buffer): number {
  const length = bytes.readUInt32BE(0);
  if (length >= MIN_BYTES && length <= MAX_BYTES) return length;
  throw brokenResponse("gave a stream of another protocol");
}

function decode(bytes: Buffer): Frame {
  let decoded: ReturnType<EventStreamCodec["decode"]>;
  try {
    decoded = codec.decode(bytes);
  } catch (cause) {
    throw brokenResponse("damaged a message of its stream", cause);
  }
  const header = (name: string) => String(decoded.headers[name]?.value ?? "");
  const kind = header(":message-type");
  const name = { event: ":event-type", exception: ":exception-type" }[kind] ?? ":error-code";
  const payload = parsePayload(Buffer.from(decoded.body).toString());
  return { kind, name: header(name), payload, message: header(":error-message") };
}

function parsePayload(text: string): Record<string, unknown> {
  if (text === "") return {};
  try {
    const value: unknown = parseBounded(text);
    return isObject(value) ? value : {};
  } catch (cause) {
    throw brokenResponse("gave a message that is no JSON", cause);
  }
}
