import type { StoredPicture } from "../../gateway/delivery/stored-blobs.ts";

/** A store of named blobs in one place: on the local disk or in object storage. */
export interface NamedStore<Picture extends StoredPicture = StoredPicture> {
  /** Stores a blob. Throws a `DependencyError` when the place does not accept the blob. */
  write(name: string, image: Blob): Promise<void>;
  /** Returns a blob; null when the name is unknown. Throws a `DependencyError` when the place is unavailable. */
  get(name: string): Promise<Picture | null>;
  /** Yields every stored blob, in pages of limited size. `storedAt` is in Unix milliseconds, `size` in bytes. */
  pages(): AsyncIterable<readonly { name: string; storedAt: number; size: number }[]>;
  /** Removes a blob. Succeeds also when the blob is already gone. */
  remove(name: string): Promise<void>;
}
