import type { Nanos } from "../../lib/money.ts";
import type { Actor } from "../actor.ts";
import type { ListPage, OrganizationFilter } from "../list-page.ts";
import type { BudgetRecord, LeaseInDoubt } from "./schema.ts";

export type NewBudget = Omit<BudgetRecord, "version" | "readAt">;

export interface BudgetAdminStore {
  /** A day or month that is over is replaced by the one that runs, here and in all that is read. */
  create(budget: NewBudget, by: Actor): Promise<BudgetRecord>;
  get(id: string): Promise<BudgetRecord | null>;
  list(organizationId?: string): Promise<BudgetRecord[]>;
  /** Oldest first. */
  page(page: ListPage & OrganizationFilter & { keyId?: string }): Promise<BudgetRecord[]>;
  /** Returns at most so many budgets, those of which the largest share is spent. */
  mostSpent(limit: number): Promise<BudgetRecord[]>;
  ofKeys(ids: readonly string[]): Promise<BudgetRecord[]>;
  /** Sets the amount that `change` makes of the budget in its present state; null when there is no such budget. */
  update(
    id: string,
    change: (before: BudgetRecord) => { amount: Nanos },
    by: Actor,
  ): Promise<BudgetRecord | null>;
  remove(id: string, by: Actor): Promise<boolean>;
  leasesInDoubt(): Promise<LeaseInDoubt[]>;
  /** Returns what such a process holds to its budgets. Returns what that was; empty when it holds nothing in doubt. */
  writeOff(processId: string, by: Actor): Promise<LeaseInDoubt[]>;
}
