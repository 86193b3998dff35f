import { UpstreamError } from "../../domain/upstream-error.ts";
import { JsonBoundError, parseBounded } from "../../lib/bounded-json.ts";
import { isObject } from "../../lib/json.ts";
import { FrameSplitter } from "../../lib/sse.ts";

/** Bound of one event of a vendor. */
const MAX_FRAME_BYTES = 16 * 1024 * 1024;
/** An event is one line, or the lines of indented JSON. */
const MAX_LINES = 100_000;
/** Events before the first content: a vendor that thinks for ten minutes sends a thousand. */
const MAX_EMPTY_FRAMES = 10_000;
const BLANK_LINE = Buffer.from("\n\n");

/** Cuts a vendor's stream into frames, whatever its chunks, and keeps a failure until what came before it is sent. */
export class VendorFrames {
  readonly #splitter = new FrameSplitter();
  #failure: unknown = null;
  /** Frames before the first content. */
  #empty = 0;

  /** True when the next chunk begins a frame. */
  get isEmpty(): boolean {
    return this.#splitter.isEmpty;
  }

  get hasFailed(): boolean {
    return this.#failure !== null;
  }

  /**
   * Gives each complete frame to `take`. An error of `take` is thrown at once while the caller has no content. When
   * `isCommitted`, content of the same chunk has been counted and goes out first, and `end` throws the error.
   */
  read(chunk: Uint8Array, isCommitted: boolean, take: (frame: Buffer) => void): void {
    const frames = this.#splitter.push(chunk);
    if (!isCommitted && (this.#empty += frames.length) > MAX_EMPTY_FRAMES)
      throw new UpstreamError("broken", "a stream without content");
    try {
      for (const frame of frames) take(frame);
    } catch (error) {
      if (!isCommitted) throw error;
      this.#failure = error;
    }
    if (this.#splitter.restBytes > MAX_FRAME_BYTES || this.#splitter.restLines > MAX_LINES)
      throw new UpstreamError("broken", "an endless event");
  }

  /** Gives the frame that the stream ended in, if any, to `take`. Throws the failure that was kept. */
  end(take: (frame: Buffer) => void): void {
    if (this.hasFailed) throw this.#failure;
    const rest = this.#splitter.end();
    if (rest.length > 0) take(Buffer.concat([rest, BLANK_LINE]));
  }
}

/**
 * Parses an event, or a whole reply, of a vendor. Throws an `UpstreamError` for anything but a JSON object, and for
 * more than can be parsed at once.
 */
export function parseVendorObject(
  text: string,
  what: "an event" | "the response" = "an event",
  parse?: (text: string) => unknown,
): Record<string, unknown> {
  let value: unknown;
  try {
    value = parseBounded(text, parse);
  } catch (cause) {
    const problem = cause instanceof JsonBoundError ? `has ${cause.message}` : "is not JSON";
    throw new UpstreamError("broken", `${what} ${problem}`, { cause });
  }
  if (!isObject(value)) throw new UpstreamError("broken", `${what} is not an object`);
  return value;
}
