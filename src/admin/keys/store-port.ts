import type { Actor } from "../actor.ts";
import type { ListPage, OrganizationFilter } from "../list-page.ts";
import type { KeyRecord, KeyState } from "./schema.ts";
/** Filter of keys; an absent field matches every key. */
export interface KeyFilter extends OrganizationFilter {
  search?: string;
  /** The state of a key at a time, Unix milliseconds. A disabled key counts as disabled even after its expiry. */
  state?: { name: KeyState; now: number };
}

/** Deleted keys are not found; their rows stay for the ledger's sake. */
export interface KeyStore {
  /** Null where a key of any organization has or had the secret, because its callers would then use another key. */
  create(key: Omit<KeyRecord, "version">, by: Actor): Promise<KeyRecord | null>;
  get(id: string): Promise<KeyRecord | null>;
  /** The key with this secret; not one that had it before a rotation. */
  findByHash(hash: string): Promise<KeyRecord | null>;
  /** Returns true for the former secret of a rotated or deleted key, also while it is still accepted. */
  isRetired(hash: string): Promise<boolean>;
  /** Oldest first, of one organization when named; no more than `most` when given. */
  list(organizationId?: string, most?: number): Promise<KeyRecord[]>;
  /** Oldest first; `search` is a part of the id, the name or the beginning of the secret. */
  page(page: ListPage & KeyFilter): Promise<KeyRecord[]>;
  /** Returns the number of an organization's keys, counted up to `most`. */
  count(organizationId: string, most: number): Promise<number>;
  /** The names of some keys, of deleted ones, too; of some organizations when named. */
  names(ids: readonly string[], organizationIds?: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Returns the time of the last charge of each key that has one. Unix milliseconds. */
  lastUsed(ids: readonly string[]): Promise<ReadonlyMap<string, LastUse>>;
  /**
   * Writes the key that `change` returns for the present one, so that no two changes undo each other. Returns the key
   * afterwards, null when there is none.
   */
  update(
    id: string,
    change: (
      before: KeyRecord,
    ) => Partial<Omit<KeyRecord, "id" | "organizationId" | "hash" | "prefix" | "createdAt" | "version">>,
    by: Actor,
  ): Promise<KeyRecord | null>;
  /**
   * Gives a key another secret. Its earlier secrets are accepted until `overlapEndsAt` (Unix milliseconds), or until
   * their own end where that is sooner. False when there is no such key.
   */
  rotate(
    id: string,
    secret: Pick<KeyRecord, "hash" | "prefix">,
    overlapEndsAt: number,
    by: Actor,
  ): Promise<boolean>;
  /** Deletes a key; all its secrets are refused from now on. False when there is no such key. */
  remove(id: string, by: Actor): Promise<boolean>;
}

/** When a key was used last, in Unix milliseconds. */
interface LastUse {
  /** The last charge; null for none. */
  chargedAt: number | null;
  /** The last request that was charged or recorded, also a refused one. */
  seenAt: number;
}
