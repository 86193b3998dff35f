import type { ImageFormat } from "../../domain/model.ts";

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

/** A stored picture whose bytes are read only through `stream`. Every `Blob` is one. */
export interface StoredPicture {
  readonly size: number;
  /** MIME type. */
  readonly type: string;
  /** The bytes from `start` up to `end`. */
  slice(start: number, end: number): StoredPicture;
  /** Reads in pieces, as fast as the reader takes them. */
  stream(): ReadableStream<Uint8Array<ArrayBuffer>>;
}

interface StoredBlob {
  /** `{id}.{extension}`, the last part of its link. */
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
   * True when a valid link may have been made in the last minutes, by its expiry and the lifetimes in use, so that its
   * picture may still wait on the disk of another machine. Always false without object storage.
   */
  isNew(expires: string | null): boolean;
}
