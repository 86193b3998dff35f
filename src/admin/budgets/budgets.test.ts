import { expect, test } from "bun:test";
import {
  createBudget,
  createKey,
  createOrganization,
  listBudgets,
  updateBudget,
} from "../../../test/support/admin-calls.ts";
import { NOW, refusal, withOrganization } from "../../../test/support/admin-context.ts";
import { periodStart } from "../../domain/calendar.ts";
import { removeBudget } from "./budgets.ts";

test("a budget starts its period in UTC, changes its amount and goes away", async () => {
  const context = await withOrganization();
  const budget = await createBudget(context, { organizationId: "acme", amount: "100", period: "month" });
  expect(budget).toMatchObject({
    amount: 100_000_000_000n,
    spent: 0n,
    held: 0n,
    periodStart: Date.UTC(2026, 4, 1),
    keyId: null,
  });
  expect(periodStart("day", NOW)).toBe(Date.UTC(2026, 4, 15));
  expect(periodStart("total", NOW)).toBe(NOW);
  expect(await updateBudget(context, budget.id, { amount: "0.5" })).toMatchObject({ amount: 500_000_000n });
  await removeBudget(context, budget.id);
  expect((await listBudgets(context, { organizationId: "acme" })).data).toEqual([]);
  expect(await refusal(removeBudget(context, budget.id))).toEqual([404, "id", expect.any(String)]);
  expect(await refusal(updateBudget(context, budget.id, { amount: "1" }))).toEqual([
    404,
    "id",
    expect.any(String),
  ]);
});

test("a budget of a key of another organization or with a negative amount is refused", async () => {
  const context = await withOrganization();
  await createOrganization(context, { id: "other", name: "Other" });
  const { key } = await createKey(context, { organizationId: "other", name: "k" });
  const fields = { organizationId: "acme", amount: "1" };
  expect(await refusal(createBudget(context, { ...fields, keyId: key.id }))).toEqual([
    404,
    "keyId",
    expect.any(String),
  ]);
  expect(await refusal(createBudget(context, { ...fields, amount: "-1" }))).toEqual([
    400,
    "amount",
    expect.any(String),
  ]);
  expect(await refusal(createBudget(context, { ...fields, period: "year" }))).toEqual([
    400,
    "period",
    expect.any(String),
  ]);
});
