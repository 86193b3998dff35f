import type { Actor } from "../actor.ts";
import type { OrganizationFilter } from "../list-page.ts";
import type { PriceAmounts } from "../../domain/price.ts";
/** A price row. Its amounts never change: a later row takes over cell by cell, or it is ended. */
export interface PriceRecord {
  id: string;
  /** null is the default for every organization. */
  organizationId: string | null;
  model: string;
  currency: string;
  price: PriceAmounts;
  effectiveFrom: number;
  /** Unix milliseconds, exclusive; null while it has not been ended. */
  effectiveUntil: number | null;
  createdAt: number;
}

export interface PriceStore {
  /** `replaced` has what the row's cells cost before it, for the audit. */
  add(price: PriceRecord, by: Actor, replaced?: object | null): Promise<void>;
  /** Ends a row at a time. False when no such row is in force then. */
  end(id: string, until: number, by: Actor): Promise<boolean>;
  list(filter?: { organizationId?: string | null; model?: string }): Promise<PriceRecord[]>;
  /**
   * Price rows by model and then oldest first, from behind the row with the id `after`; null where there is no such
   * row. `organizationIds` restricts them to those organizations and the default rows.
   */
  page(
    page: OrganizationFilter & { model?: string; after?: string; limit: number },
  ): Promise<PriceRecord[] | null>;
}
