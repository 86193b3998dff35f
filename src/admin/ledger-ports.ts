import type { LedgerEntry } from "../domain/ledger.ts";

/** The ledger as administration sees it: nothing in it changes, corrections are entries of their own. */
export interface LedgerAdminStore {
  /** Newest first: the first page, or the one below a position. */
  list(page: LedgerPage): Promise<LedgerEntry[]>;
  /** Where the entry of an id stands, or null when there is none. */
  position(id: string): Promise<LedgerPosition | null>;
  /** A charge with its corrections, or null when there is no such charge. */
  history(charge: string): Promise<ChargeHistory | null>;
  /** A page of an organization's charges for a model, oldest first. A page may be empty and yet not the last. */
  charges(page: ChargePage): Promise<{ histories: ChargeHistory[]; next: LedgerPosition | null }>;
  /**
   * Writes corrections of charges in one transaction, in which nobody else corrects them: `decide` is given each
   * in its present state and returns the entry to write, if any. Adds to the `spent` of the charge's budgets as far as
   * the charge fell in their running period. `note` makes it leave an audit row. Returns what was written.
   */
  correct(
    charges: readonly string[],
    decide: (history: ChargeHistory) => LedgerEntry | null,
    note: CorrectionNote | null,
  ): Promise<LedgerEntry[]>;
}

/** Which entries are meant; what is absent does not matter. */
export interface LedgerFilter {
  organizationId?: string;
  keyId?: string;
  model?: string;
  /** The caller's `X-Request-Id`, or the one that the gateway gave in its place. */
  requestId?: string;
  /** Unix milliseconds, inclusive. */
  from?: number;
  /** Unix milliseconds, exclusive. */
  to?: number;
}

export interface LedgerPage extends LedgerFilter {
  /** The last entry of the page above. */
  below?: LedgerPosition;
  limit: number;
}

export interface ChargeHistory {
  charge: LedgerEntry;
  /** Refunds and adjustments, oldest first. */
  corrections: LedgerEntry[];
}

export interface ChargePage {
  organizationId: string;
  model: string;
  /** Inclusive and exclusive, Unix milliseconds. */
  from: number;
  to: number;
  after: LedgerPosition | null;
}

/** Where an entry stands in the ledger's order of time and id. */
export interface LedgerPosition {
  /** Unix milliseconds. */
  at: number;
  id: string;
}

export interface CorrectionNote {
  by: { actor: string };
  action: "refund" | "correct prices";
  /** What the audit lists it under: a charge's id, or a model. */
  subject: string;
  /** Why and how much. */
  detail: object;
}
