import type { LedgerEntry } from "../domain/ledger.ts";
import type { Principal } from "../domain/api-key.ts";
import type { Core } from "../gateway/core.ts";
import { budgetsOf } from "../gateway/metering/billing.ts";
import { BudgetLease } from "../gateway/metering/budget-lease.ts";
import type { Hold } from "../gateway/metering/budget-leases.ts";
import type { Nanos } from "../lib/money.ts";

/**
 * Billing of one job. The store holds its money from submission to end, whichever process runs it, and posts its entry
 * in the same transaction as its end; so this class only records both values.
 */
export class JobBilling {
  /** The amount that was requested to be held. */
  ceiling: Nanos = 0n;
  budgets: readonly string[];
  /** The charge of the job, or an entry of cost without a charge. */
  entry: LedgerEntry | null = null;

  /** `budgets` hold the job's money; at its submission they are the caller's. */
  constructor(budgets: readonly string[] = []) {
    this.budgets = budgets;
  }

  static forSubmission(principal: Principal): JobBilling {
    return new JobBilling(budgetsOf(principal));
  }

  hold(_principal: Principal, ceiling: () => Nanos): Hold {
    this.ceiling = ceiling();
    return { amount: this.ceiling, leases: this.budgets.map((budget) => new BudgetLease(budget)) };
  }

  settle(_hold: Hold, entry: LedgerEntry): void {
    this.entry = entry;
  }

  checkpoint(): void {}

  release(): void {}
}

/** Returns the core with the billing of one job. */
export function coreOf<OfCore extends Core>(core: OfCore, billing: JobBilling): OfCore {
  return { ...core, billing };
}
