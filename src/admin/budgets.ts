import { z } from "zod";
import { periodStart } from "../domain/budget-period.ts";
import { newId } from "../lib/ids.ts";
import { AdminError } from "./admin-error.ts";
import type { AdminContext } from "./context.ts";
import { amountSchema, readInput } from "./input.ts";
import { getOrganization } from "./organizations.ts";
import type { BudgetRecord, LeaseInDoubt } from "./ports.ts";

/** Creates a budget of an organization or of one of its keys: a hard stop in the organization's currency. */
export async function createBudget(context: AdminContext, input: unknown): Promise<BudgetRecord> {
  const fields = readInput(budgetSchema, input);
  await getOrganization(context, fields.organizationId);
  if (fields.keyId !== null) {
    const key = await context.store.keys.get(fields.keyId);
    if (key?.organizationId !== fields.organizationId)
      throw new AdminError(
        404,
        "keyId",
        `the organization "${fields.organizationId}" has no key "${fields.keyId}"`,
      );
  }
  const now = context.clock.now();
  const budget: BudgetRecord = {
    id: newId("budget"),
    ...fields,
    spent: 0n,
    held: 0n,
    periodStart: periodStart(fields.period, now),
    createdAt: now,
  };
  await context.store.budgets.create(budget, context.by);
  return budget;
}

/** Budgets of one organization, or of all. */
export async function listBudgets(context: AdminContext, organizationId?: string): Promise<BudgetRecord[]> {
  if (organizationId !== undefined) await getOrganization(context, organizationId);
  return await context.store.budgets.list(organizationId);
}

/** Sets a new amount, a decimal string; what was spent stays spent. Throws 404 for an unknown budget. */
export async function setBudgetAmount(
  context: AdminContext,
  id: string,
  amount: unknown,
): Promise<BudgetRecord> {
  const fields = readInput(z.strictObject({ amount: amountSchema }), { amount });
  const isKnown = await context.store.budgets.setAmount(id, fields.amount, context.by);
  const budget = isKnown ? await context.store.budgets.get(id) : null;
  if (!budget) throw unknownBudget(id);
  return budget;
}

/** Removes a budget: nothing is held against it any more. Throws 404 for an unknown one. */
export async function removeBudget(context: AdminContext, id: string): Promise<void> {
  if (!(await context.store.budgets.remove(id, context.by))) throw unknownBudget(id);
}

/** Money held by processes that vanished: it may be spent by charges in a journal nobody has posted. */
export function listLeasesInDoubt(context: AdminContext): Promise<LeaseInDoubt[]> {
  return context.store.budgets.leasesInDoubt();
}

/**
 * Gives up on the journal of a process that vanished: what it held can be spent again. Throws 404 when the process
 * holds nothing in doubt.
 */
export async function writeOffLeases(context: AdminContext, processId: string): Promise<LeaseInDoubt[]> {
  const written = await context.store.budgets.writeOff(processId, context.by);
  if (written.length === 0)
    throw new AdminError(404, "process", `the process "${processId}" holds nothing in doubt`);
  return written;
}

const budgetSchema = z.strictObject({
  organizationId: z.string(),
  keyId: z.string().nullable().default(null),
  amount: amountSchema,
  period: z.enum(["total", "day", "month"]).default("total"),
});

function unknownBudget(id: string): AdminError {
  return new AdminError(404, "id", `there is no budget "${id}"`);
}
