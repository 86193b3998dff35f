import { operatorMessage } from "../../domain/operator-message.ts";
import { z } from "zod";
import { periodEnd } from "../../domain/calendar.ts";
import { newId } from "../../lib/ids.ts";
import { AdminError } from "../admin-error.ts";
import type { AdminContext } from "../context.ts";
import type { Nanos } from "../../lib/money.ts";
import { requireVersion } from "../input.ts";
import { toPage, readCursor, type Page } from "../paging.ts";
import { getOrganization } from "../organizations/organizations.ts";
import {
  budgetChangeSchema,
  budgetCreationSchema,
  budgetListSchema,
  type BudgetRecord,
  type LeaseInDoubt,
} from "./schema.ts";

/** Creates a budget: a hard limit for an organization, or one of its keys, in the organization's currency. */
export async function createBudget(
  context: AdminContext,
  fields: z.output<typeof budgetCreationSchema>,
  id: string = newId("budget"),
): Promise<BudgetRecord> {
  await getOrganization(context, fields.organizationId);
  if (fields.keyId !== null) {
    const key = await context.store.keys.get(fields.keyId);
    if (key?.organizationId !== fields.organizationId)
      throw new AdminError(
        404,
        "keyId",
        operatorMessage("error.organization.key", { organization: fields.organizationId, key: fields.keyId }),
      );
  }
  const now = context.clock.now();
  const budget = {
    id,
    ...fields,
    spent: 0n,
    held: 0n,
    // A start in the past makes the store begin the current day or month by its own clock.
    periodStart: fields.period === "total" ? now : 0,
    createdAt: now,
  };
  return await context.store.budgets.create(budget, context.by);
}

/** Returns budgets, oldest first: of one organization or of all organizations, and of one key or of all keys. */
export async function listBudgets(
  context: AdminContext,
  input: z.output<typeof budgetListSchema>,
): Promise<Page<BudgetRecord>> {
  const { cursor, limit, ...filter } = input;
  if (filter.organizationId !== undefined) await getOrganization(context, filter.organizationId);
  const page = { ...filter, after: readCursor(cursor), limit: limit + 1 };
  return toPage(await context.store.budgets.page(page), limit);
}

/** Sets a new amount. The spent amount stays unchanged. Throws 404 for an unknown budget. */
export async function updateBudget(
  context: AdminContext,
  id: string,
  input: z.output<typeof budgetChangeSchema>,
): Promise<BudgetRecord> {
  const { amount, version } = input;
  const change = (before: BudgetRecord) => {
    requireVersion(before, version);
    return { amount: amount ?? before.amount };
  };
  const budget = await context.store.budgets.update(id, change, context.by);
  if (!budget) throw unknownBudget(id);
  return budget;
}

/**
 * Returns the amount that will have been spent at the end of the budget's period at the current pace. Null for a budget
 * without an end, and while the period is too young for a forecast.
 */
export function forecast({ period, periodStart: start, spent, readAt }: BudgetRecord): Nanos | null {
  const end = periodEnd(period, start);
  if (end === null) return null;
  const [elapsed, whole] = [Math.min(readAt, end) - start, end - start];
  return elapsed < whole * YOUNG_PERIOD ? null : (spent * BigInt(whole)) / BigInt(elapsed);
}

/** Minimum elapsed share of a period for a forecast. An earlier forecast would be a guess. */
const YOUNG_PERIOD = 0.05;

/** Removes a budget, which then no longer limits requests. Throws 404 for an unknown budget. */
export async function removeBudget(context: AdminContext, id: string): Promise<void> {
  if (!(await context.store.budgets.remove(id, context.by))) throw unknownBudget(id);
}

/**
 * Returns the leases in doubt of processes that have disappeared. Unposted charges in the journals of these processes
 * may have spent the money of the leases.
 */
export function listLeasesInDoubt(context: AdminContext): Promise<LeaseInDoubt[]> {
  return context.store.budgets.leasesInDoubt();
}

/**
 * Moves the money of a process's leases in doubt back to the budgets, after the process's journal was lost. Throws 404
 * when the process has no leases in doubt.
 */
export async function writeOffLeases(context: AdminContext, processId: string): Promise<LeaseInDoubt[]> {
  const written = await context.store.budgets.writeOff(processId, context.by);
  if (written.length === 0)
    throw new AdminError(404, "processId", `the process "${processId}" holds nothing in doubt`);
  return written;
}

function unknownBudget(id: string): AdminError {
  return new AdminError(404, "id", operatorMessage("error.missing", { noun: "budget", id }));
}
