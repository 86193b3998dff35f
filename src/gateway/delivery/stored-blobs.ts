import type { ImageFormat } from "../../domain/model.ts";

/** Where delivered images are kept until their retention ends. */
export interface BlobStore {
  put(image: Blob, format: ImageFormat | "bin", organizationId: string): Promise<StoredBlob>;
  /** Whether `put` would succeed now, as far as is known. */
  isAvailable(): boolean;
  /** Succeeds when the blob is gone, whoever removed it. */
  remove(name: string): Promise<void>;
  /** The stored picture, or null when unknown or gone. */
  get(name: string): Promise<StoredPicture | null>;
}

/** A stored picture of which nothing is read before `stream` is. Every `Blob` is one. */
export interface StoredPicture {
  readonly size: number;
  /** MIME type. */
  readonly type: string;
  /** The bytes from `start` up to `end`. */
  slice(start: number, end: number): StoredPicture;
  /** Reads piece by piece, as fast as the reader takes them. */
  stream(): ReadableStream<Uint8Array<ArrayBuffer>>;
}

interface StoredBlob {
  /** `{id}.{extension}`, the last part of its link. */
  name: string;
}

/** Makes and checks signed, time-limited links. */
export interface Links {
  /** Absolute link to a stored blob under a base address, valid for so many hours or, with null, as configured. */
  sign(base: string, name: string, hours?: number | null): string;
  check(name: string, expires: string | null, signature: string | null): "valid" | "expired" | "invalid";
  /**
   * Whether a valid link may be of the last minutes, by its expiry and the lifetimes in use, so that its picture may wait
   * on the disk of another machine. Never without object storage.
   */
  isNew(expires: string | null): boolean;
}
