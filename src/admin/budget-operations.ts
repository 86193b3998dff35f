import { z } from "zod";
import { periodEnd } from "../domain/budget-period.ts";
import { formatNanos } from "../lib/money.ts";
import type { BudgetRecord, LeaseInDoubt } from "./budget-ports.ts";
import {
  budgetChangeSchema,
  budgetCreationSchema,
  budgetListSchema,
  createBudget,
  forecast,
  listBudgets,
  listLeasesInDoubt,
  removeBudget,
  updateBudget,
  writeOffLeases,
} from "./budgets.ts";
import type { AdminContext } from "./context.ts";
import { operation } from "./operation.ts";
import { getOrganization } from "./organizations.ts";
import { amountViewSchema, doneSchema, isoTime, isoTimeSchema, pageOf, versionViewSchema } from "./output.ts";
import { pageByName, pageFields } from "./paging.ts";

const budgetSchema = z.object({
  id: z.string(),
  organizationId: z.string(),
  keyId: z.string().nullable().describe("Null holds for the whole organization"),
  keyName: z.string().nullable(),
  amount: amountViewSchema,
  spent: amountViewSchema,
  held: amountViewSchema.describe("Reserved for running requests, decimal"),
  currency: z.string().describe("ISO 4217"),
  period: z.enum(["total", "day", "month"]).describe("Days and months are in UTC"),
  periodStart: isoTimeSchema,
  periodEnd: isoTimeSchema.nullable(),
  forecast: amountViewSchema
    .nullable()
    .describe("What will be spent at the end of the period, going on as until now, decimal"),
  createdAt: isoTimeSchema,
  version: versionViewSchema,
});

const leaseSchema = z.object({
  processId: z.string(),
  budget: z.string().describe("Id of the budget"),
  amount: amountViewSchema,
  since: isoTimeSchema.describe("When it would have had to be renewed"),
});

const leaseListSchema = z.strictObject(pageFields);

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
      const leases = (await listLeasesInDoubt(context)).map(toLeaseView);
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
    run: async (context, { processId }) => ({
      data: (await writeOffLeases(context, processId)).map(toLeaseView),
    }),
  }),
};

type BudgetView = z.input<typeof budgetSchema>;

async function toView(context: AdminContext, budget: BudgetRecord): Promise<BudgetView> {
  const [view] = await toViews(context, [budget]);
  return view as BudgetView;
}

/** With the names of their keys and the currencies of their organizations. */
async function toViews(context: AdminContext, budgets: readonly BudgetRecord[]): Promise<BudgetView[]> {
  const names = await context.store.keys.names([
    ...new Set(budgets.flatMap(({ keyId }) => (keyId === null ? [] : [keyId]))),
  ]);
  const currencies = new Map<string, string>();
  for (const { organizationId: id } of budgets)
    if (!currencies.has(id)) currencies.set(id, (await getOrganization(context, id)).currency);
  return budgets.map(({ readAt, ...budget }) => {
    const end = periodEnd(budget.period, budget.periodStart);
    const expected = forecast({ ...budget, readAt });
    return {
      ...budget,
      keyName: budget.keyId === null ? null : (names.get(budget.keyId) ?? null),
      amount: formatNanos(budget.amount),
      spent: formatNanos(budget.spent),
      held: formatNanos(budget.held),
      currency: currencies.get(budget.organizationId) ?? "",
      periodStart: isoTime(budget.periodStart),
      periodEnd: end === null ? null : isoTime(end),
      forecast: expected === null ? null : formatNanos(expected),
      createdAt: isoTime(budget.createdAt),
    };
  });
}

function toLeaseView({ amount, since, ...lease }: LeaseInDoubt): z.input<typeof leaseSchema> {
  return { ...lease, amount: formatNanos(amount), since: isoTime(since) };
}
