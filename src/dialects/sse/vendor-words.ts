import { VENDOR_NAMES } from "../../domain/vendor-names.ts";
import { removeMember } from "../../lib/json-edit.ts";

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
