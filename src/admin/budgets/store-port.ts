import type { BudgetLevel } from "../../domain/budget-level.ts";
import type { Nanos } from "../../lib/money.ts";
import type { Actor } from "../actor.ts";
import type { ListPage, OrganizationFilter } from "../list-page.ts";
import type { BudgetRecord, LeaseInDoubt } from "./schema.ts";

export type NewBudget = Omit<BudgetRecord, "version" | "readAt" | keyof BudgetLevel>;

export interface BudgetAdminStore {
  /**
   * Every budget that this store returns is in its current period (day or month), even if the stored period has ended.
   */
  create(budget: NewBudget, by: Actor): Promise<BudgetRecord>;
  get(id: string): Promise<BudgetRecord | null>;
  list(organizationId?: string): Promise<BudgetRecord[]>;
  /** Returns a page of budgets, oldest first. */
  page(page: ListPage & OrganizationFilter & { keyId?: string }): Promise<BudgetRecord[]>;
  /** Returns the budgets with the largest spent share, at most `limit` of them. */
  mostSpent(limit: number): Promise<BudgetRecord[]>;
  /** Returns the spent or nearly spent budgets of running periods, at most `limit`. Spent budgets come first. */
  nearlySpent(filter: OrganizationFilter & { limit: number }): Promise<BudgetRecord[]>;
  ofKeys(ids: readonly string[]): Promise<BudgetRecord[]>;
  /** Returns the budgets of whole organizations, without the budgets of their keys. */
  ofOrganizations(ids: readonly string[]): Promise<BudgetRecord[]>;
  /** Sets the amount that `change` returns for the current budget. Returns null when there is no such budget. */
  update(
    id: string,
    change: (before: BudgetRecord) => { amount: Nanos },
    by: Actor,
  ): Promise<BudgetRecord | null>;
  remove(id: string, by: Actor): Promise<boolean>;
  leasesInDoubt(): Promise<LeaseInDoubt[]>;
  /**
   * Moves the money of a process's leases in doubt back to the budgets. Returns these leases; the result is empty when
   * the process has none.
   */
  writeOff(processId: string, by: Actor): Promise<LeaseInDoubt[]>;
}
