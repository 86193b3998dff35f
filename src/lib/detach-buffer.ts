/**
 * Frees the memory of unused bytes at once; otherwise it would accumulate until the next garbage collection. Does
 * nothing for bytes that are part of a larger buffer or shared.
 */
export function detachBuffer({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
