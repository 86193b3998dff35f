/**
 * Frees the memory of unused bytes at once: it would accumulate until the next garbage collection. Bytes that are a
 * part of a larger buffer, or are shared, are left alone.
 */
export function detachBuffer({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
