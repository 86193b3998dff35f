import type { LedgerEntry } from "../../domain/ledger.ts";
import type { Nanos } from "../../lib/money.ts";
import type { OrganizationFilter } from "../list-page.ts";
import type { LedgerVerification } from "./verification-schema.ts";

/** The ledger for administration. Entries never change; a correction is an entry of its own. */
export interface LedgerAdminStore {
  /** Newest first: the first page, or the one below a position. */
  list(page: LedgerPage): Promise<LedgerEntry[]>;
  /** In the order of posting, after a position and up to a number that is readable. */
  listPosted(page: PostedPage): Promise<LedgerEntry[]>;
  /** A number of the posting order up to which all entries are visible and none will be added. */
  readableSequence(): Promise<number>;
  /** Position of the entry with an id; null when these organizations, or all, have no such entry. */
  position(id: string, organizationIds?: readonly string[]): Promise<LedgerPosition | null>;
  /** A charge with its corrections, or null when there is no such charge. */
  history(charge: string): Promise<ChargeHistory | null>;
  /** A page of an organization's charges for a model, oldest first. A page may be empty and yet not the last. */
  charges(page: ChargePage): Promise<{ histories: ChargeHistory[]; next: LedgerPosition | null }>;
  /**
   * Writes corrections of charges in one transaction, during which no other correction of them is written: `decide` is given each
   * in its present state and returns the entry to write, if any. Adds to the `spent` of the charge's budgets as far as
   * the charge fell in their running period. `note` makes it leave an audit row. Returns what was written.
   */
  correct(
    charges: readonly string[],
    decide: (history: ChargeHistory) => LedgerEntry | null,
    note: CorrectionNote | null,
  ): Promise<LedgerEntry[]>;
  /** Compares the ledger with budgets, leases and journals; changes nothing. */
  verify(): Promise<LedgerVerification>;
  /** The month of the oldest entry, or of an unfinished archive in the folder where that is older; null for none. */
  oldestMonth(folder: string): Promise<string | null>;
  /**
   * Writes the entries of a month to a file in a folder, reads it back, and only then removes from the ledger what
   * the file has. A run that was interrupted is finished first. Null when there was nothing to do.
   */
  archive(
    month: string,
    folder: string,
    by: { actor: string; source?: string },
  ): Promise<LedgerArchive | null>;
}

/** A file of entries that have left the ledger. */
export interface LedgerArchive {
  /** `2026-01`, in UTC. */
  month: string;
  file: string;
  entries: number;
  /** Sums by currency and kind. */
  sums: Record<string, Partial<Record<LedgerEntry["kind"], Nanos>>>;
  /** Hash of the file as it is on the disk, lower-case hex. */
  sha256: string;
}

/** Filter of entries; an absent field matches every entry. */
export interface LedgerFilter extends OrganizationFilter {
  keyId?: string;
  model?: string;
  /** The caller's `X-Request-Id`, or the id that the gateway generated. */
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

export interface PostedPage extends LedgerFilter {
  after: PostedPosition;
  upTo: number;
  limit: number;
}

/** Position of an entry in the order of posting; entries of one transaction have one number. */
export interface PostedPosition {
  sequence: number;
  id: string;
  kind: string;
}

export interface ChargeHistory {
  charge: LedgerEntry;
  /** Refunds and adjustments, oldest first. */
  corrections: LedgerEntry[];
}

interface ChargePage {
  organizationId: string;
  model: string;
  /** Inclusive and exclusive, Unix milliseconds. */
  from: number;
  to: number;
  after: LedgerPosition | null;
}

/** Position of an entry in the ledger, which is ordered by time and id. */
export interface LedgerPosition {
  /** Unix milliseconds. */
  at: number;
  id: string;
}

interface CorrectionNote {
  by: { actor: string; source?: string };
  action: "refund" | "correct prices";
  /** Subject in the audit: a charge's id, or a model. */
  subject: string;
  /** Why and how much. */
  detail: object;
}
