/**
 * Gives the memory of bytes that nobody needs any more back at once; it would else pile up until the next
 * collection. Bytes that are only a part of a buffer are left alone.
 */
export function free(bytes: Uint8Array<ArrayBuffer>): void {
  if (bytes.byteLength === bytes.buffer.byteLength) bytes.buffer.transfer(0);
}
