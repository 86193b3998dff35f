import type { StoredPicture } from "../../gateway/delivery/stored-blobs.ts";

/** Blobs by name, in one place. */
export interface NamedStore<Picture extends StoredPicture = StoredPicture> {
  /** Throws a `DependencyError` when the place does not take the blob. */
  write(name: string, image: Blob): Promise<void>;
  /** Null when the name is unknown. Throws a `DependencyError` when that cannot be known. */
  get(name: string): Promise<Picture | null>;
  /** Every stored blob, in pages of bounded length. `storedAt` is in Unix milliseconds, `size` in bytes. */
  pages(): AsyncIterable<readonly { name: string; storedAt: number; size: number }[]>;
  /** Succeeds when the blob is gone, also when somebody else removed it. */
  remove(name: string): Promise<void>;
}
