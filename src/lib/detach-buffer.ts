/**
 * Gives the memory of bytes that nobody needs any more back at once; it would else pile up until the next
 * collection. Bytes that are only a part of a buffer, or are shared, are left alone.
 */
export function detachBuffer({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
