import type { LedgerEntry } from "../../domain/ledger.ts";
import type { Nanos } from "../../lib/money.ts";

/** Local, append-only, written before the last byte of a response: survives the end of the process at any moment. */
export interface Journal {
  /** Returns once the operating system has the record. Throws when the disk refuses it. */
  append(record: JournalRecord): void;
  /** False while the disk refuses records; it turns true again by itself. */
  isWritable(): boolean;
}

/** A `checkpoint` counts as the charge unless one with the same id follows. */
export type JournalRecord = { type: "charge" | "checkpoint"; entry: LedgerEntry };

/** Budgets in the shared store, of which a process takes leases ahead of need. */
export interface BudgetStore {
  /**
   * Moves some of what is left of each budget into this process's lease, all or none. Returns what was granted
   * (between `needed` and `wanted` each) and what is left of each budget after it; a budget the store no longer has
   * limits nothing and is in neither map. Throws a `DependencyError` when the store is unavailable; the
   * money may have moved all the same.
   */
  take(processId: string, requests: readonly BudgetRequest[]): Promise<Granted | Exhausted>;
  /** Gives back what this process does not use. */
  giveBack(processId: string, amounts: ReadonlyMap<string, Nanos>): Promise<void>;
  /** Gives back and then deletes those of these leases that hold nothing any more. */
  close(processId: string, amounts: ReadonlyMap<string, Nanos>): Promise<void>;
  /**
   * Keeps leases for another 15 minutes of the store's time. Returns what each has drawn from its budget, less what
   * was given back or written off. A budget that is not in the result has no lease any more.
   */
  renew(processId: string, budgets: Iterable<string>): Promise<ReadonlyMap<string, Nanos>>;
  /** Budgets this process holds money of and another one needs money of. */
  contended(processId: string): Promise<ReadonlySet<string>>;
}

export interface Granted {
  granted: ReadonlyMap<string, Nanos>;
  left: ReadonlyMap<string, Nanos>;
}

/** The first budget that has not even `needed` left. Other processes are requested to return theirs if that helps. */
export interface Exhausted {
  exhausted: string;
  /** Neither spent nor held. Below zero when the amount was lowered or a charge exceeded its hold. */
  left: Nanos;
  heldByOthers: Nanos;
}

export interface BudgetRequest {
  budget: string;
  /** Zero finds out whether the budget is overdrawn. */
  needed: Nanos;
  wanted: Nanos;
}
