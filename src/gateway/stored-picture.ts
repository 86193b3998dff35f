import type { Spool } from "../lib/spool.ts";
import type { StoredPicture } from "./delivery/stored-blobs.ts";

/**
 * Returns a stored file as a local one: a file on the local disk is read there, another is copied to the spool. Throws
 * the signal's reason once it aborts.
 */
export async function toLocalBlob(stored: StoredPicture, spool: Spool, signal?: AbortSignal): Promise<Blob> {
  if (stored instanceof Blob) return stored;
  const file = spool.create();
  for await (const bytes of stored.stream()) {
    signal?.throwIfAborted();
    file.write(bytes);
    await file.ready();
  }
  return await file.finish();
}
