import type { Nanos } from "../lib/money.ts";
import type { Actor } from "./actor.ts";
import type { ListPage, OrganizationFilter } from "./list-page.ts";

export interface BudgetRecord {
  id: string;
  organizationId: string;
  /** null holds for the whole organization. */
  keyId: string | null;
  /** What may be spent in a period. */
  amount: Nanos;
  period: "total" | "day" | "month";
  spent: Nanos;
  /** Held by running processes' leases. */
  held: Nanos;
  /** Unix milliseconds at which the running period began. */
  periodStart: number;
  createdAt: number;
  /** Revision of its last change; spending does not change it. */
  version: number;
  /** Unix milliseconds of the store's clock, by which periods run, when this was read. */
  readAt: number;
}

export type NewBudget = Omit<BudgetRecord, "version" | "readAt">;

/**
 * What a process holds of a budget that has not renewed its leases for 15 minutes. Part of it may be spent: the
 * charges then stand in the journal of that process.
 */
export interface LeaseInDoubt {
  processId: string;
  budget: string;
  amount: Nanos;
  /** When it would have had to be renewed. Unix milliseconds of the store. */
  since: number;
}

export interface BudgetAdminStore {
  /** A day or month that is over is replaced by the one that runs, here and in all that is read. */
  create(budget: NewBudget, by: Actor): Promise<BudgetRecord>;
  get(id: string): Promise<BudgetRecord | null>;
  list(organizationId?: string): Promise<BudgetRecord[]>;
  /** Oldest first. */
  page(page: ListPage & OrganizationFilter & { keyId?: string }): Promise<BudgetRecord[]>;
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
