import { z } from "zod";
import { periodEnd } from "../../domain/calendar.ts";
import {
  createBudget,
  forecast,
  listBudgets,
  listLeasesInDoubt,
  removeBudget,
  updateBudget,
  writeOffLeases,
} from "./budgets.ts";
import type { AdminContext } from "../context.ts";
import { operation } from "../operation.ts";
import { getOrganization } from "../organizations/organizations.ts";
import { doneSchema, pageOf } from "../output.ts";
import { pageByName } from "../paging.ts";
import {
  budgetChangeSchema,
  budgetCreationSchema,
  budgetListSchema,
  budgetSchema,
  leaseListSchema,
  leaseSchema,
  type BudgetRecord,
} from "./schema.ts";

const idSchema = z.strictObject({ id: z.string() });

export const budgetOperations = {
  "budgets.list": operation({
    method: "GET",
    path: "/budgets",
    summary: "Budgets and what is left of them, oldest first",
    role: "viewer",
    reach: "organization",
    cost: "page",
    input: budgetListSchema,
    output: pageOf(budgetSchema),
    async run(context, input) {
      const { data, next } = await listBudgets(context, input);
      return { data: await toViews(context, data), next };
    },
  }),
  "budgets.create": operation({
    method: "POST",
    path: "/budgets",
    summary: "Limit what an organization, or one of its keys, may spend",
    role: "billing",
    reach: "organization",
    cost: "page",
    input: budgetCreationSchema,
    output: budgetSchema,
    run: async (context, input) => toView(context, await createBudget(context, input)),
  }),
  "budgets.update": operation({
    method: "PATCH",
    path: "/budgets/{id}",
    summary: "Change the amount; what was spent stays spent",
    role: "billing",
    reach: "organization",
    cost: "page",
    input: budgetChangeSchema.extend(idSchema.shape),
    output: budgetSchema,
    run: async (context, { id, ...change }) => toView(context, await updateBudget(context, id, change)),
  }),
  "budgets.remove": operation({
    method: "DELETE",
    path: "/budgets/{id}",
    summary: "Remove a budget: nothing is held against it any more",
    role: "billing",
    reach: "organization",
    cost: "page",
    input: idSchema,
    output: doneSchema,
    async run(context, { id }) {
      await removeBudget(context, id);
      return { done: true as const };
    },
  }),
  "leases.list": operation({
    method: "GET",
    path: "/leases",
    summary: "What processes hold that vanished without their journal being posted",
    role: "viewer",
    reach: "installation",
    cost: "report",
    input: leaseListSchema,
    output: pageOf(leaseSchema),
    async run(context, input) {
      const leases = await listLeasesInDoubt(context);
      return pageByName(leases, input, ({ processId, budget }) => `${processId}/${budget}`);
    },
  }),
  "leases.writeOff": operation({
    method: "POST",
    path: "/leases/{processId}/write-off",
    summary: "Return what such a process holds; only when its journal is lost",
    role: "billing",
    reach: "installation",
    cost: "page",
    input: z.strictObject({ processId: z.string() }),
    output: z.object({ data: z.array(leaseSchema) }),
    run: async (context, { processId }) => ({ data: await writeOffLeases(context, processId) }),
  }),
};

type BudgetView = z.output<typeof budgetSchema>;

async function toView(context: AdminContext, budget: BudgetRecord): Promise<BudgetView> {
  return (await viewer(context, [budget]))(budget);
}

async function toViews(context: AdminContext, budgets: readonly BudgetRecord[]): Promise<BudgetView[]> {
  return budgets.map(await viewer(context, budgets));
}

/** Returns a function that makes the view of a budget, with the key's name and the organization's currency. */
async function viewer(
  context: AdminContext,
  budgets: readonly BudgetRecord[],
): Promise<(budget: BudgetRecord) => BudgetView> {
  const names = await context.store.keys.names([
    ...new Set(budgets.flatMap(({ keyId }) => (keyId === null ? [] : [keyId]))),
  ]);
  const currencies = new Map<string, string>();
  for (const { organizationId: id } of budgets)
    if (!currencies.has(id)) currencies.set(id, (await getOrganization(context, id)).currency);
  return (budget) => ({
    ...budget,
    keyName: budget.keyId === null ? null : (names.get(budget.keyId) ?? null),
    currency: currencies.get(budget.organizationId) ?? "",
    periodEnd: periodEnd(budget.period, budget.periodStart),
    forecast: forecast(budget),
  });
}
