/**
 * Frees the memory of unused bytes now. Otherwise it would stay occupied until the next garbage collection. Does
 * nothing when the bytes are part of a larger buffer, or when their buffer is shared.
 */
export function detachBuffer({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
