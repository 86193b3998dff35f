import type { LedgerEntry } from "../domain/ledger.ts";
import type { Principal } from "../domain/api-key.ts";
import type { Core } from "../gateway/core.ts";
import { budgetsOf } from "../gateway/metering/billing.ts";
import { BudgetLease } from "../gateway/metering/budget-lease.ts";
import type { Hold } from "../gateway/metering/budget-leases.ts";
import type { Nanos } from "../lib/money.ts";

/**
 * Billing of one job. The store holds the job's money from its submission to its end, whichever process runs it, and
 * writes its ledger entry in the transaction that ends it. So this class only records the amount to hold and the entry.
 */
export class JobBilling {
  /** The maximum cost to hold. */
  ceiling: Nanos = 0n;
  budgets: readonly string[];
  /** The ledger entry of the job: its charge, which may be zero with an orphan cost. */
  entry: LedgerEntry | null = null;

  /** `budgets` are those on which the money is held; at the submission, those that limit the request. */
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

/** Returns the core with this billing in place of its own. */
export function coreOf<OfCore extends Core>(core: OfCore, billing: JobBilling): OfCore {
  return { ...core, billing };
}
