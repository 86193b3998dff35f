import type { Nanos } from "../../lib/money.ts";
import type { Actor } from "../actor.ts";
import type { ListPage, OrganizationFilter } from "../list-page.ts";
import type { BudgetRecord, LeaseInDoubt } from "./schema.ts";

export type NewBudget = Omit<BudgetRecord, "version" | "readAt">;

export interface BudgetAdminStore {
  /** Every read replaces an ended day or month by the current one. */
  create(budget: NewBudget, by: Actor): Promise<BudgetRecord>;
  get(id: string): Promise<BudgetRecord | null>;
  list(organizationId?: string): Promise<BudgetRecord[]>;
  /** Oldest first. */
  page(page: ListPage & OrganizationFilter & { keyId?: string }): Promise<BudgetRecord[]>;
  /** Returns the budgets with the largest spent share, at most `limit` of them. */
  mostSpent(limit: number): Promise<BudgetRecord[]>;
  ofKeys(ids: readonly string[]): Promise<BudgetRecord[]>;
  /** Sets the amount that `change` returns for the present budget. Null when there is no such budget. */
  update(
    id: string,
    change: (before: BudgetRecord) => { amount: Nanos },
    by: Actor,
  ): Promise<BudgetRecord | null>;
  remove(id: string, by: Actor): Promise<boolean>;
  leasesInDoubt(): Promise<LeaseInDoubt[]>;
  /**
   * Returns the leases in doubt of a process to their budgets. Returns those leases; empty when the process has none in
   * doubt.
   */
  writeOff(processId: string, by: Actor): Promise<LeaseInDoubt[]>;
}
