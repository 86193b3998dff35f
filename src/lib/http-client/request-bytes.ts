/** The buffer for requests that fit in it: memory that every request uses stays in the processor's caches. */
const SHARED = Buffer.allocUnsafeSlow(64 * 1024);
/** Bytes reserved for the digits of a length and the end of a head. */
const LENGTH_ROOM = 24;
/** Most bytes of one UTF-16 code unit in UTF-8. */
const MAX_BYTES_A_UNIT = 3;

const encoder = new TextEncoder();

/** The bytes of a request: the head, then the body. */
export interface RequestBytes {
  /** Contains a small body as well. Valid until the next request is written, unless `kept` copied it. */
  head: Buffer;
  /** The body; null when `head` contains it. */
  body: Buffer | null;
}

/** Writes a request. `prelude` ends with `content-length: `. */
export function writeRequest(prelude: string, body: string): RequestBytes {
  const bodyStart = prelude.length + LENGTH_ROOM;
  if (bodyStart + body.length * MAX_BYTES_A_UNIT > SHARED.length) return writeLarge(prelude, body);
  const length = SHARED.write(body, bodyStart);
  const head = headOf(prelude, length);
  const start = bodyStart - head.length;
  SHARED.write(head, start, "latin1");
  return { head: SHARED.subarray(start, bodyStart + length), body: null };
}

/**
 * Encodes the text in one step: the encoder takes a text of several parts as it is. Any other reading would join the
 * parts first, at five times the cost.
 */
function writeLarge(prelude: string, body: string): RequestBytes {
  const { buffer, byteOffset, byteLength } = encoder.encode(body);
  const head = Buffer.from(headOf(prelude, byteLength), "latin1");
  return { head, body: Buffer.from(buffer, byteOffset, byteLength) };
}

function headOf(prelude: string, length: number): string {
  return `${prelude}${length}\r\n\r\n`;
}

/** Copies the bytes, so that they stay valid. */
export function kept(bytes: Buffer): Buffer {
  return bytes.buffer === SHARED.buffer ? Buffer.from(bytes) : bytes;
}
