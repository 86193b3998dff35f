import { expect, test } from "bun:test";
import type { AlertFacts, AlertSettings, WatchedBudget } from "../domain/alert.ts";
import { conditionsOf } from "./conditions.ts";

const NOW = Date.UTC(2026, 4, 15, 12);
const MINUTE = 60_000;

function held(settings: AlertSettings, facts: Partial<AlertFacts>) {
  return conditionsOf(
    { settings },
    { budgets: [], minutes: [], ejections: [], causes: [], now: NOW, ...facts },
  );
}

const budget = (spent: bigint, more: Partial<WatchedBudget> = {}): WatchedBudget => ({
  id: "budget_1",
  owner: "Pictures",
  amount: 10_000_000_000n,
  spent,
  currency: "USD",
  period: "month",
  periodStart: Date.UTC(2026, 4, 1),
  ...more,
});
const shares: AlertSettings = { kind: "budget", percents: [80, 100], budgetId: null };

test.each([
  [7_999_999_999n, []],
  [8_000_000_000n, [80]],
  [9_999_999_999n, [80]],
  [10_000_000_000n, [80, 100]],
])("a budget that has spent %s nano-units of ten billion has reached %o", (spent, reached) => {
  const found = held(shares, { budgets: [budget(spent)] });
  expect(found.map(({ condition }) => Number(condition.split(" ").at(-1)))).toEqual(reached);
});

test("a budget's message says who, how much and that requests are refused", () => {
  const [, all] = held(shares, { budgets: [budget(10_500_000_000n)] });
  expect(all?.message).toBe(
    "Pictures has spent all of its budget: 10.50 USD of 10.00 USD this month. Its requests are refused.",
  );
});

test("each period of a budget is a condition of its own", () => {
  const june = { periodStart: Date.UTC(2026, 5, 1) };
  const [may] = held(shares, { budgets: [budget(9_000_000_000n)] });
  const [next] = held(shares, {
    budgets: [budget(9_000_000_000n, june)],
    now: Date.UTC(2026, 5, 2),
  });
  expect(may?.condition).not.toBe(next?.condition);
});

test("a rule of one budget leaves the others alone", () => {
  const one: AlertSettings = { kind: "budget", percents: [50], budgetId: "budget_2" };
  const budgets = [budget(9_000_000_000n), budget(9_000_000_000n, { id: "budget_2" })];
  expect(held(one, { budgets }).map(({ subject }) => subject)).toEqual(["budget_2"]);
});

const errors: AlertSettings = { kind: "error_rate", percent: 10, minutes: 5, minRequests: 20 };
const minute = (ago: number, requests: number, failed: number) => ({
  at: NOW - ago * MINUTE,
  requests,
  failed,
});

test.each([
  ["too few requests", [minute(0, 19, 19)], 0],
  ["a share below the rule's", [minute(0, 100, 9)], 0],
  ["the rule's share", [minute(0, 100, 10)], 1],
  ["failures before the rule's minutes", [minute(0, 100, 0), minute(6, 100, 100)], 0],
  ["failures within them", [minute(0, 50, 0), minute(4, 50, 20)], 1],
])("an error rate with %s fires %o", (_, minutes, count) => {
  expect(held(errors, { minutes })).toHaveLength(count);
});

test("a target alerts once it has been out of service for so long", () => {
  const rule: AlertSettings = { kind: "ejection", seconds: 60 };
  const ejection = (seconds: number) => [
    { target: "openai/gpt", reason: "account", since: NOW - seconds * 1000 },
  ];
  expect(held(rule, { ejections: ejection(59) })).toEqual([]);
  expect(held(rule, { ejections: ejection(60) })).toMatchObject([{ subject: "openai/gpt" }]);
  expect(held(rule, { ejections: ejection(60) })[0]?.message).toContain("refuses the credential");
});
