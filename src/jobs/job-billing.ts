import type { LedgerEntry } from "../domain/ledger.ts";
import type { Principal } from "../domain/api-key.ts";
import type { Core } from "../gateway/core.ts";
import { budgetsOf } from "../gateway/metering/billing.ts";
import { BudgetLease } from "../gateway/metering/budget-lease.ts";
import type { Hold } from "../gateway/metering/budget-leases.ts";
import type { Nanos } from "../lib/money.ts";

/**
 * Billing of one job. It only records the amount to reserve (hold) and the ledger entry. The store reserves the job's
 * money from the submission to the end of the job, and writes the ledger entry.
 */
export class JobBilling {
  /** The maximum cost, which is the amount to reserve. */
  ceiling: Nanos = 0n;
  budgets: readonly string[];
  /** The job's ledger entry after settling. Its charge is zero when it only records an orphan cost (unbilled work). */
  entry: LedgerEntry | null = null;

  /** `budgets` are the ids of the budgets on which the money is reserved. */
  constructor(budgets: readonly string[]) {
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

/** Returns a copy of the core that uses this billing. */
export function coreOf<OfCore extends Core>(core: OfCore, billing: JobBilling): OfCore {
  return { ...core, billing };
}
