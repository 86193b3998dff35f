import { GatewayError } from "../../domain/gateway-error.ts";
import type { ImageFormat } from "../../domain/model.ts";
import type { Spool } from "../../lib/spool.ts";

/** Stores delivered images, files of jobs and bodies of kept outcomes, at most until their retention period ends. */
export interface BlobStore {
  put(image: Blob, format: ImageFormat | "bin", organizationId: string): Promise<StoredBlob>;
  /** True when, as far as this process knows, `put` would succeed now. */
  isAvailable(): boolean;
  /** Removes a blob. Succeeds also when another process has already removed it. */
  remove(name: string): Promise<void>;
  /** Returns the stored picture; null when it is unknown or removed. */
  get(name: string): Promise<StoredPicture | null>;
}

/** A stored picture, whose bytes are read by `stream`. Every `Blob` satisfies this interface. */
export interface StoredPicture {
  readonly size: number;
  /** MIME type. */
  readonly type: string;
  /** Returns the bytes from `start` up to `end`. */
  slice(start: number, end: number): StoredPicture;
  /** Returns the bytes as a stream with backpressure. */
  stream(): ReadableStream<Uint8Array<ArrayBuffer>>;
}

interface StoredBlob {
  /** Name of the picture: `{id}.{extension}`. The name is the last part of the picture's link. */
  name: string;
}

/** Makes and checks signed links that expire. */
export interface Links {
  /**
   * Returns an absolute link to a stored blob. `base` is the part of the address before the path. The link is valid for
   * `hours`, but no longer than pictures are kept, or for the configured time when `hours` is null.
   */
  sign(base: string, name: string, hours?: number | null): string;
  check(name: string, expires: string | null, signature: string | null): "valid" | "expired" | "invalid";
  /**
   * True when a valid link with this expiry may be only minutes old, given the link lifetimes of all organizations. The
   * link's picture may still be only on the disk of another machine. Always false without object storage.
   */
  isNew(expires: string | null): boolean;
}

const RETRY_SECONDS = 5;

/**
 * Returns the picture of a link with a valid signature; null when the link or the picture has expired. Throws a 503
 * when another machine may still have to upload the picture to object storage, as after an outage.
 */
export async function linkedPicture(
  { links, blobs }: { links: Links; blobs: BlobStore },
  verdict: "valid" | "expired",
  { name, expires }: { name: string; expires: string | null },
): Promise<StoredPicture | null> {
  if (verdict === "expired") return null;
  const picture = await blobs.get(name);
  if (picture || !links.isNew(expires)) return picture;
  throw new GatewayError("dependency_unavailable", "The picture is not here yet. Retry shortly.", {
    retryAfterSeconds: RETRY_SECONDS,
  });
}

/**
 * Returns a stored file as a local file. A file on the local disk is returned unchanged; any other file is copied to
 * the spool. Throws the signal's reason once the signal aborts.
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
