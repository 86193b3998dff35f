import type { Actor } from "../actor.ts";
import type { OrganizationFilter } from "../list-page.ts";
import type { PriceAmounts } from "../../domain/price.ts";
/** A price row. Its amounts never change: later rows replace single cells, or the row is ended. */
export interface PriceRecord {
  id: string;
  /** Null for a default row, which applies to every organization. */
  organizationId: string | null;
  model: string;
  currency: string;
  price: PriceAmounts;
  effectiveFrom: number;
  /** End in Unix milliseconds, exclusive; null while the row has no end. */
  effectiveUntil: number | null;
  createdAt: number;
}

export interface PriceStore {
  /** Adds a row. `replaced` contains the earlier amounts of the row's cells, for the audit. */
  add(price: PriceRecord, by: Actor, replaced?: object | null): Promise<void>;
  /** Ends a row at a time. Returns false when there is no such row, or when the row ends by then anyway. */
  end(id: string, until: number, by: Actor): Promise<boolean>;
  list(filter?: { organizationId?: string | null; model?: string }): Promise<PriceRecord[]>;
  /**
   * Returns price rows by model, then oldest first. Begins after the row with the id `after`; returns null when there
   * is no such row. `organizationIds` restricts the rows to these organizations and the defaults.
   */
  page(
    page: OrganizationFilter & { model?: string; after?: string; limit: number },
  ): Promise<PriceRecord[] | null>;
}
