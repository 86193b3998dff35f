import type { LedgerEntry } from "../../domain/ledger.ts";
import type { Progress } from "../../lib/progress.ts";
import type { Nanos } from "../../lib/money.ts";
import type { OrganizationFilter } from "../list-page.ts";
import type { LedgerVerification } from "./verification-schema.ts";

/** The ledger for administration. Entries never change; a correction is a separate entry. */
export interface LedgerAdminStore {
  /** Returns a page of entries, newest first: the first page, or the page below a position. */
  list(page: LedgerPage): Promise<LedgerEntry[]>;
  /** Returns entries in the order of posting, after a position and up to a readable sequence number. */
  listPosted(page: PostedPage): Promise<LedgerEntry[]>;
  /** Returns the sequence number up to which all entries are visible and no more will be added. */
  readableSequence(): Promise<number>;
  /**
   * Returns the position of the entry with an id; null for an unknown id. `organizationIds` restricts the search to
   * these organizations.
   */
  position(id: string, organizationIds?: readonly string[]): Promise<LedgerPosition | null>;
  /** Returns a charge with its corrections, or null when there is no such charge. */
  history(charge: string): Promise<ChargeHistory | null>;
  /**
   * Returns a page of an organization's charges for a model, oldest first. A page may be empty without being the last.
   */
  charges(page: ChargePage): Promise<{ histories: ChargeHistory[]; next: LedgerPosition | null }>;
  /**
   * Writes corrections of charges in one transaction, while no other correction of these charges is written. `decide`
   * receives each charge in its current state and returns the entry to write, or null. Adds the amounts to `spent` of
   * the charge's budgets if the charge belongs to the current period of the budget. With `note`, writes an audit row if
   * there is a correction. Returns the written entries.
   */
  correct(
    charges: readonly string[],
    decide: (history: ChargeHistory) => LedgerEntry | null,
    note: CorrectionNote | null,
  ): Promise<LedgerEntry[]>;
  /** Compares the ledger with budgets, leases and journals. Stores only the time and the number of differences. */
  verify(): Promise<LedgerVerification>;
  /**
   * Returns the month of the oldest entry, or of an older unfinished archive in the folder; null when there is neither.
   */
  oldestMonth(folder: string): Promise<string | null>;
  /**
   * Writes the entries of a month to a file in a folder, reads the file back, and only then removes these entries from
   * the ledger. First finishes a run that was interrupted. Returns null when there was nothing to do.
   */
  archive(
    month: string,
    folder: string,
    by: { actor: string; source?: string },
    onProgress?: Progress,
  ): Promise<LedgerArchive | null>;
}

/** A file of entries that have been removed from the ledger. */
export interface LedgerArchive {
  /** The month in UTC, such as `2026-01`. */
  month: string;
  file: string;
  entries: number;
  /** Sums by currency and kind. */
  sums: Record<string, Partial<Record<LedgerEntry["kind"], Nanos>>>;
  /** SHA-256 of the file on the disk, in lower-case hex. */
  sha256: string;
}

/** Filter of entries; an absent field matches every entry. */
export interface LedgerFilter extends OrganizationFilter {
  keyId?: string;
  model?: string;
  /** The caller's `X-Request-Id`, or the id that the gateway generated. */
  requestId?: string;
  /** Earliest time in Unix milliseconds, inclusive. */
  from?: number;
  /** Latest time in Unix milliseconds, exclusive. */
  to?: number;
}

export interface LedgerPage extends LedgerFilter {
  /** Position of the last entry of the previous page. */
  below?: LedgerPosition;
  limit: number;
}

export interface PostedPage extends LedgerFilter {
  after: PostedPosition;
  upTo: number;
  limit: number;
}

/** Position of an entry in the order of posting. Entries of one transaction have the same number. */
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
  /** Range in Unix milliseconds; `from` is inclusive, `to` is exclusive. */
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
  /** Subject of the audit row: the id of a charge, or a model. */
  subject: string;
  /** Details for the audit: the reason and the amounts. */
  detail: object;
}
