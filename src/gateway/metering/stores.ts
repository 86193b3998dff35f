import type { LedgerEntry } from "../../domain/ledger.ts";
import type { Nanos } from "../../lib/money.ts";

/** Records appended on the local disk, which survive a crash of the process. Written before a response's last byte. */
export interface Journal {
  /**
   * Returns once the operating system has the record. A charge that the disk refuses is kept in memory instead. Throws
   * when the record is neither on the disk nor in memory.
   */
  append(record: JournalRecord): void;
  /** False while the disk refuses records. */
  isWritable(): boolean;
  /** Returns the reason why the disk refused the last record, with the folder; null while the disk accepts records. */
  refusal(): string | null;
}

/** A `checkpoint` is billed like a charge, except when a later record has the same id. */
export type JournalRecord = { type: "charge" | "checkpoint"; entry: LedgerEntry };

/** The budgets in the shared store. A process takes leases on budgets ahead of need. */
export interface BudgetStore {
  /**
   * Moves a part of each budget into this process's lease, for all budgets or for none. Returns for each budget the
   * granted amount (from `needed` to `wanted`) and the amount left afterwards. A budget that was removed from the store
   * limits nothing and is in neither map. Throws a `DependencyError` when the store is unavailable. The money may have
   * moved despite the error.
   */
  take(processId: string, requests: readonly BudgetRequest[]): Promise<Granted | Exhausted>;
  /** Gives back amounts that this process does not use. */
  giveBack(processId: string, amounts: ReadonlyMap<string, Nanos>): Promise<void>;
  /** Gives amounts back. Then deletes this process's lease on each of these budgets if the lease is empty. */
  close(processId: string, amounts: ReadonlyMap<string, Nanos>): Promise<void>;
  /**
   * Prolongs this process's leases on the budgets to 15 minutes from now, by the store's clock. Returns for each budget
   * the acquired amount, minus what was given back or written off. A budget is missing if its lease no longer exists.
   */
  renew(processId: string, budgets: Iterable<string>): Promise<ReadonlyMap<string, Nanos>>;
  /** Returns the budgets whose money this process holds and another process lacks. */
  contended(processId: string): Promise<ReadonlySet<string>>;
}

export interface Granted {
  granted: ReadonlyMap<string, Nanos>;
  left: ReadonlyMap<string, Nanos>;
}

/**
 * The first budget that has less than `needed` left. If other processes hold money of this budget, the store asks these
 * processes to return their unused amounts.
 */
export interface Exhausted {
  exhausted: string;
  /** Amount neither spent nor held. May be negative after the budget was lowered or a charge exceeded its hold. */
  left: Nanos;
  heldByOthers: Nanos;
}

export interface BudgetRequest {
  budget: string;
  /** With zero, the store refuses only when the budget is overdrawn. */
  needed: Nanos;
  wanted: Nanos;
}
