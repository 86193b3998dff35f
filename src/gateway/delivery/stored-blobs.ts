import { GatewayError } from "../../domain/gateway-error.ts";
import type { ImageFormat } from "../../domain/model.ts";
import type { Spool } from "../../lib/spool.ts";

/** Keeps delivered images until their retention ends. */
export interface BlobStore {
  put(image: Blob, format: ImageFormat | "bin", organizationId: string): Promise<StoredBlob>;
  /** True when `put` would succeed now, as far as is known. */
  isAvailable(): boolean;
  /** Succeeds when the blob is gone, even if another process removed it. */
  remove(name: string): Promise<void>;
  /** Returns the stored picture; null when it is unknown or removed. */
  get(name: string): Promise<StoredPicture | null>;
}

/** A stored picture whose bytes are read only through `stream`. Every `Blob` has this form. */
export interface StoredPicture {
  readonly size: number;
  /** MIME type. */
  readonly type: string;
  /** Returns the bytes from `start` up to `end`. */
  slice(start: number, end: number): StoredPicture;
  /** Reads in pieces, as fast as the reader takes them. */
  stream(): ReadableStream<Uint8Array<ArrayBuffer>>;
}

interface StoredBlob {
  /** Name of the picture, `{id}.{extension}`, which is the last part of its link. */
  name: string;
}

/** Makes and checks signed, time-limited links. */
export interface Links {
  /**
   * Returns an absolute link to a stored blob under a base address. It is valid for `hours`, with null for the
   * configured time.
   */
  sign(base: string, name: string, hours?: number | null): string;
  check(name: string, expires: string | null, signature: string | null): "valid" | "expired" | "invalid";
  /**
   * True when a valid link with this expiry can have been made in the last minutes. The picture of such a link may
   * still be only on the disk of another machine. Considers all lifetimes that organizations use. Always false without
   * object storage.
   */
  isNew(expires: string | null): boolean;
}

const RETRY_SECONDS = 5;

/**
 * Returns the picture of a link with a valid signature; null when the link or the picture has expired. Throws a 503
 * while the picture may not have arrived yet: after an outage of the object storage another machine still uploads what
 * it has kept.
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
