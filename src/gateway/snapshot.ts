import type { ApiKey } from "../domain/api-key.ts";
import type { Organization } from "../domain/organization.ts";
import type { Channel, Route } from "../domain/channel.ts";
import type { Model } from "../domain/model.ts";
import type { Price } from "../domain/price.ts";
import type { PatternMap } from "../lib/pattern-map.ts";

/** Immutable data that decide about requests. They are replaced as a whole within a second after a change. */
export interface Directory {
  organizations: ReadonlyMap<string, Organization>;
  models: PatternMap<Model>;
  /** Default route of each model. */
  routes: PatternMap<Route>;
  channels: ReadonlyMap<string, Channel>;
  /** Returns the price in force at `now`; null for none. For each amount, the organization's own row comes first. */
  price(
    organization: Pick<Organization, "id" | "currency">,
    model: string,
    unit: Price["unit"],
    now: number,
  ): Price | null;
}

/** The current directory, and the keys by the hash of their secret. */
export interface Snapshot {
  directory(): Directory;
  /**
   * Returns a known key at once. For an unknown hash, queries the store and resolves to null when no key has that hash.
   * `onLookup` is called before the query and may throw. Rejects with a `DependencyError` when the query fails.
   */
  key(hash: string, onLookup?: () => void): ApiKey | null | Promise<ApiKey | null>;
}
