/** Where requests are written that fit: memory that every request uses is in the processor's caches. */
const SHARED = Buffer.allocUnsafeSlow(64 * 1024);
/** Digits of a length and the end of a head. */
const LENGTH_ROOM = 24;
/** Of one UTF-16 code unit in UTF-8. */
const MAX_BYTES_A_UNIT = 3;

/** The bytes of a request: valid until the next call, unless `kept`. `prelude` ends with the name of the length's field. */
export function writeRequest(prelude: string, body: string): Buffer {
  const bodyStart = prelude.length + LENGTH_ROOM;
  const isSmall = bodyStart + body.length * MAX_BYTES_A_UNIT <= SHARED.length;
  const memory = isSmall ? SHARED : Buffer.allocUnsafeSlow(bodyStart + Buffer.byteLength(body));
  const length = memory.write(body, bodyStart);
  const head = `${prelude}${length}\r\n\r\n`;
  const start = bodyStart - head.length;
  memory.write(head, start, "latin1");
  return memory.subarray(start, bodyStart + length);
}

/** The same bytes, for as long as they are needed. */
export function kept(bytes: Buffer): Buffer {
  return bytes.buffer === SHARED.buffer ? Buffer.from(bytes) : bytes;
}
