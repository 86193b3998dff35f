import type { LedgerEntry } from "../../domain/ledger.ts";
import type { Nanos } from "../../lib/money.ts";

/**
 * Local, append-only records, written before the last byte of a response. They survive the end of the process at any
 * moment.
 */
export interface Journal {
  /**
   * Returns once the operating system has the record, or, for a charge that the disk refuses, once it is kept in
   * memory. Throws otherwise.
   */
  append(record: JournalRecord): void;
  /** False while the disk refuses records; becomes true again by itself. */
  isWritable(): boolean;
  /** Returns why the last record was refused, with the folder; null while the disk takes records. */
  refusal(): string | null;
}

/** A `checkpoint` counts as the charge unless a later record has the same id. */
export type JournalRecord = { type: "charge" | "checkpoint"; entry: LedgerEntry };

/** Budgets in the shared store. A process takes leases of them ahead of need. */
export interface BudgetStore {
  /**
   * Moves a part of each budget into this process's lease, for all budgets or none. Returns the granted amounts (each
   * between `needed` and `wanted`) and what is left of each budget afterwards. A budget that the store no longer has
   * limits nothing and is in neither map. Throws a `DependencyError` when the store is unavailable; the money may have
   * moved nevertheless.
   */
  take(processId: string, requests: readonly BudgetRequest[]): Promise<Granted | Exhausted>;
  /** Gives back amounts that this process does not use. */
  giveBack(processId: string, amounts: ReadonlyMap<string, Nanos>): Promise<void>;
  /** Gives amounts back, and then deletes each of these leases that holds nothing any more. */
  close(processId: string, amounts: ReadonlyMap<string, Nanos>): Promise<void>;
  /**
   * Prolongs leases by 15 minutes of the store's time. Returns for each lease the amount it has acquired from its
   * budget, without what was given back or written off. A budget that is missing from the result no longer has a lease.
   */
  renew(processId: string, budgets: Iterable<string>): Promise<ReadonlyMap<string, Nanos>>;
  /** Returns the budgets of which this process holds money that another process needs. */
  contended(processId: string): Promise<ReadonlySet<string>>;
}

export interface Granted {
  granted: ReadonlyMap<string, Nanos>;
  left: ReadonlyMap<string, Nanos>;
}

/**
 * The first budget that has less than `needed` left. If it helps, the store asks other processes to return their unused
 * amounts.
 */
export interface Exhausted {
  exhausted: string;
  /**
   * Amount of the budget that is neither spent nor held. Negative when the amount was lowered or a charge exceeded its
   * hold.
   */
  left: Nanos;
  heldByOthers: Nanos;
}

export interface BudgetRequest {
  budget: string;
  /** With an amount of zero, the call only finds out whether the budget is overdrawn. */
  needed: Nanos;
  wanted: Nanos;
}
