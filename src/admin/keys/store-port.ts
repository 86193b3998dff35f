import type { Actor } from "../actor.ts";
import type { ListPage, OrganizationFilter } from "../list-page.ts";
import type { KeyRecord, KeyState } from "./schema.ts";
/** Filter of keys; an absent field matches every key. */
export interface KeyFilter extends OrganizationFilter {
  search?: string;
  /** The state of a key at a time in Unix milliseconds. A disabled key counts as disabled even after its expiry. */
  state?: { name: KeyState; now: number };
}

/** The store of keys. Deleted keys are not found; their rows stay, because the ledger refers to them. */
export interface KeyStore {
  /**
   * Stores a key. Returns null when a key of any organization has or had the same secret, because callers with that
   * secret would then use the new key.
   */
  create(key: Omit<KeyRecord, "version">, by: Actor): Promise<KeyRecord | null>;
  get(id: string): Promise<KeyRecord | null>;
  /** Returns the key whose current secret has this hash. A secret from before a rotation does not count. */
  findByHash(hash: string): Promise<KeyRecord | null>;
  /** True for the secret of a deleted key, and for each former secret of a rotated key, accepted or not. */
  isRetired(hash: string): Promise<boolean>;
  /** Returns keys, oldest first, at most `most` of them. `organizationId` selects the keys of one organization. */
  list(organizationId?: string, most?: number): Promise<KeyRecord[]>;
  /**
   * Returns a page of keys, oldest first. `search` is a part of the id, of the name or of the secret's first
   * characters.
   */
  page(page: ListPage & KeyFilter): Promise<KeyRecord[]>;
  /** Returns the number of an organization's keys. Counting stops at `most`. */
  count(organizationId: string, most: number): Promise<number>;
  /**
   * Returns the names of keys by id, including deleted keys. With `organizationIds`, only keys of these organizations.
   */
  names(ids: readonly string[], organizationIds?: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Returns the last uses by key. Keys that were never used are missing from the result. */
  lastUsed(ids: readonly string[]): Promise<ReadonlyMap<string, LastUse>>;
  /**
   * Replaces the fields of a key that `change` returns for its current state, so that no two changes undo each other.
   * Returns the changed key, or null when there is no such key.
   */
  update(
    id: string,
    change: (
      before: KeyRecord,
    ) => Partial<Omit<KeyRecord, "id" | "organizationId" | "hash" | "prefix" | "createdAt" | "version">>,
    by: Actor,
  ): Promise<KeyRecord | null>;
  /**
   * Gives a key another secret. Its earlier secrets are accepted until `overlapEndsAt` (Unix milliseconds) or their own
   * end, whichever is earlier. Returns false when there is no such key.
   */
  rotate(
    id: string,
    secret: Pick<KeyRecord, "hash" | "prefix">,
    overlapEndsAt: number,
    by: Actor,
  ): Promise<boolean>;
  /** Deletes a key. All its secrets are refused from now on. Returns false when there is no such key. */
  remove(id: string, by: Actor): Promise<boolean>;
}

/** Times of the last uses of a key, in Unix milliseconds. */
interface LastUse {
  /** Time of the last charge; null when there is none. */
  chargedAt: number | null;
  /** Time of the last request that was charged or recorded, even if the request was refused. */
  seenAt: number;
}
