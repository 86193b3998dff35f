/** Where requests are written that fit: memory that every request uses is in the processor's caches. */
const SHARED = Buffer.allocUnsafeSlow(64 * 1024);
/** Digits of a length and the end of a head. */
const LENGTH_ROOM = 24;
/** Of one UTF-16 code unit in UTF-8. */
const MAX_BYTES_A_UNIT = 3;

const encoder = new TextEncoder();

/** What is sent one after the other. */
export interface RequestBytes {
  /** With the body where that is small; valid until the next request is written, unless `kept`. */
  head: Buffer;
  /** Where it is not in `head`. */
  body: Buffer | null;
}

/** Writes a request. `prelude` ends with the name of the length's field. */
export function writeRequest(prelude: string, body: string): RequestBytes {
  const bodyStart = prelude.length + LENGTH_ROOM;
  if (bodyStart + body.length * MAX_BYTES_A_UNIT > SHARED.length) return writeLarge(prelude, body);
  const length = SHARED.write(body, bodyStart);
  const head = headOf(prelude, length);
  const start = bodyStart - head.length;
  SHARED.write(head, start, "latin1");
  return { head: SHARED.subarray(start, bodyStart + length), body: null };
}

/** The encoder takes a text of several parts as it is. Whatever else reads it would join them first, at five times the cost. */
function writeLarge(prelude: string, body: string): RequestBytes {
  const { buffer, byteOffset, byteLength } = encoder.encode(body);
  const head = Buffer.from(headOf(prelude, byteLength), "latin1");
  return { head, body: Buffer.from(buffer, byteOffset, byteLength) };
}

function headOf(prelude: string, length: number): string {
  return `${prelude}${length}\r\n\r\n`;
}

/** The same bytes, for as long as they are needed. */
export function kept(bytes: Buffer): Buffer {
  return bytes.buffer === SHARED.buffer ? Buffer.from(bytes) : bytes;
}
