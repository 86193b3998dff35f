import type { Principal } from "../domain/api-key.ts";
import type { LedgerEntry } from "../domain/ledger.ts";
import type { Core } from "../gateway/core.ts";
import { emptyLease } from "../gateway/metering/budget-lease.ts";
import type { Hold } from "../gateway/metering/budget-leases.ts";
import { budgetsOf } from "../gateway/metering/billing.ts";
import type { Nanos } from "../lib/money.ts";

/**
 * Billing of one job. Its money is held in the store from submission to end, whatever process runs it, and its entry is
 * posted in the same transaction as its end; so this only notes both.
 */
export class JobBilling {
  /** What was asked to be held. */
  ceiling: Nanos = 0n;
  budgets: readonly string[];
  /** What the job is charged, or an entry of cost without a charge. */
  entry: LedgerEntry | null = null;

  /** With the budgets that hold its money; of a submission, those of its caller. */
  constructor(budgets: readonly string[] = []) {
    this.budgets = budgets;
  }

  static forSubmission(principal: Principal): JobBilling {
    return new JobBilling(budgetsOf(principal));
  }

  hold(_principal: Principal, ceiling: () => Nanos): Hold {
    this.ceiling = ceiling();
    return { amount: this.ceiling, leases: this.budgets.map(emptyLease) };
  }

  settle(_hold: Hold, entry: LedgerEntry): void {
    this.entry = entry;
  }

  checkpoint(): void {}

  release(): void {}
}

/** The core for one job. */
export function coreOf<OfCore extends Core>(core: OfCore, billing: JobBilling): OfCore {
  return { ...core, billing };
}
