import { UpstreamError } from "../../domain/upstream-error.ts";
import { VENDOR_NAMES } from "../../domain/vendor-names.ts";
import { JsonBoundError, parseBounded } from "../../lib/parse-json.ts";
import { removeMember } from "../../lib/json-edit.ts";
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

/** Unlike in prose, a name may follow an underscore: `fp_name`. */
const VENDOR = new RegExp(`(?<![a-z])(?:${VENDOR_NAMES.join("|")})`, "i");

/**
 * The top-level fields of a response or chunk that name the vendor: `provider` of relays, and a `system_fingerprint`
 * made of a name. Most have none.
 */
export function vendorFields(body: Readonly<Record<string, unknown>>): readonly string[] {
  const { provider, system_fingerprint: fingerprint } = body;
  const isNamed = typeof fingerprint === "string" && VENDOR.test(fingerprint);
  if (provider === undefined) return isNamed ? FINGERPRINT : NONE;
  return isNamed ? BOTH : PROVIDER;
}

const NONE: readonly string[] = [];
const PROVIDER: readonly string[] = ["provider"];
const FINGERPRINT: readonly string[] = ["system_fingerprint"];
const BOTH: readonly string[] = [...PROVIDER, ...FINGERPRINT];

/** The text of an object without these fields; every other character stays. */
export function withoutFields(text: string, fields: readonly string[]): string {
  return fields.reduce(removeMember, text);
}

/** A comment, which every reader skips: it keeps a silent connection open. */
export const KEEP_ALIVE_FRAME: Uint8Array = Buffer.from(": keep-alive\n\n");

const COMMENT = /(?<=^|[\r\n]):[^\r\n]*/g;
const COLON = 0x3a;

/** A frame without the vendor's name in its comments and in the fields of its event; every other byte stays. */
export function neutralFrame(frame: Buffer, event: Readonly<Record<string, unknown>> = {}): Buffer {
  const fields = vendorFields(event);
  const hasComment = frame[0] === COLON || frame.includes("\n:") || frame.includes("\r:");
  if (fields.length === 0 && !hasComment) return frame;
  // One character is one byte; the syntax of events and JSON is ASCII.
  const text = frame.toString("latin1");
  const neutral = text.replace(COMMENT, (comment) => (VENDOR.test(comment) ? ": keep-alive" : comment));
  const edited = neutral.replace(EVENT, (data) => withoutFields(data, fields));
  return Buffer.from(edited, "latin1");
}

/**
 * Returns a frame without data for the caller: its comments alone. Official clients parse the data of every event, also
 * where it is empty or there is only a name, and fail.
 */
export function commentsOf(frame: Buffer): Buffer {
  return EVENT_LINE.test(frame.toString("latin1")) ? NOTHING : neutralFrame(frame);
}

const EVENT_LINE = /(?:^|[\r\n])(?:data|event)[:\r\n]/;
const NOTHING = Buffer.alloc(0);

/** The data of an event that is written on one line, as vendors do. */
const EVENT = /(?<=^|[\r\n])data:[^\r\n]*/;
