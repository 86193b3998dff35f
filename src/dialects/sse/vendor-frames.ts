import { UpstreamError } from "../../domain/upstream-error.ts";
import { VENDOR_NAMES } from "../../domain/vendor-names.ts";
import { JsonBoundError, parseBounded } from "../../lib/parse-json.ts";
import { removeMember } from "../../lib/json-edit.ts";
import { isObject } from "../../lib/json.ts";
import { FrameSplitter } from "../../lib/sse.ts";

/** Maximum number of bytes of a vendor's event. */
const MAX_FRAME_BYTES = 16 * 1024 * 1024;
/** Maximum number of lines of an event. Most events have one line, but indented JSON has many. */
const MAX_LINES = 100_000;
/** Maximum number of events before the first content. Ten minutes of reasoning have about a thousand events. */
const MAX_EMPTY_FRAMES = 10_000;
const BLANK_LINE = Buffer.from("\n\n");

/**
 * Splits a vendor's stream into frames, which may begin and end anywhere in a chunk. After the first content, the
 * failure of a frame is kept until the frames before it are sent.
 */
export class VendorFrames {
  readonly #splitter = new FrameSplitter();
  #failure: unknown = null;
  /** Number of frames before the first content. */
  #empty = 0;

  /** True when the next chunk begins a new frame. */
  get isEmpty(): boolean {
    return this.#splitter.isEmpty;
  }

  get hasFailed(): boolean {
    return this.#failure !== null;
  }

  /**
   * Passes each complete frame to `take`. If `isCommitted` is false, throws an error of `take` immediately. Otherwise
   * the caller already has content: the frames before the error are sent, then `end` throws the error.
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

  /** Throws the failure that `read` has kept, if any. Otherwise passes an incomplete last frame to `take`. */
  end(take: (frame: Buffer) => void): void {
    if (this.hasFailed) throw this.#failure;
    const rest = this.#splitter.end();
    if (rest.length > 0) take(Buffer.concat([rest, BLANK_LINE]));
  }
}

/**
 * Parses a vendor's event or whole reply. Throws an `UpstreamError` for other text and above a limit of `parseBounded`.
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

/** Matches the names of vendors. A name may follow an underscore, as in `fp_name`. */
const VENDOR = new RegExp(`(?<![a-z])(?:${VENDOR_NAMES.join("|")})`, "i");

/**
 * Returns the top-level fields that identify the vendor: `provider`, and a `system_fingerprint` with a vendor's name.
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

/** Returns the text of an object without these fields. Other characters stay unchanged. */
export function withoutFields(text: string, fields: readonly string[]): string {
  return fields.reduce(removeMember, text);
}

/** A comment for silent periods of a stream. Every client skips this comment. */
export const KEEP_ALIVE_FRAME: Uint8Array = Buffer.from(": keep-alive\n\n");

const COMMENT = /(?<=^|[\r\n]):[^\r\n]*/g;
const COLON = 0x3a;

/**
 * Replaces each comment that names a vendor. Removes fields that identify the vendor from the data, whose parsed form
 * is `event`. Other bytes stay unchanged.
 */
export function neutralFrame(frame: Buffer, event: Readonly<Record<string, unknown>> = {}): Buffer {
  const fields = vendorFields(event);
  const hasComment = frame[0] === COLON || frame.includes("\n:") || frame.includes("\r:");
  if (fields.length === 0 && !hasComment) return frame;
  // Each character represents one byte. This is safe, because the syntax of events and JSON is ASCII.
  const text = frame.toString("latin1");
  const neutral = text.replace(COMMENT, (comment) => (VENDOR.test(comment) ? ": keep-alive" : comment));
  const edited = neutral.replace(EVENT, (data) => withoutFields(data, fields));
  return Buffer.from(edited, "latin1");
}

/**
 * Returns a frame without data for the caller. Returns nothing if the frame has a line `data` or `event`, because
 * official clients parse the data of every event and fail when the data is empty or missing.
 */
export function commentsOf(frame: Buffer): Buffer {
  return EVENT_LINE.test(frame.toString("latin1")) ? NOTHING : neutralFrame(frame);
}

const EVENT_LINE = /(?:^|[\r\n])(?:data|event)[:\r\n]/;
const NOTHING = Buffer.alloc(0);

/** Matches the data of an event on a single line, as vendors write it. */
const EVENT = /(?<=^|[\r\n])data:[^\r\n]*/;
