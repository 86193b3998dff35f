import { expect, test } from "bun:test";
import { operatorMessage } from "./operator-message.ts";

const BUDGET = { owner: "acme", percent: 80, currency: "USD", period: "month" };

test.each([
  ["0.85", "1.00", "0.85 USD of 1.00 USD"],
  ["0.850123456", "1.00", "0.85 USD of 1.00 USD"],
  ["0.000123456", "0.009", "0.00012 USD of 0.009 USD"],
  ["0.009996", "1234.5", "0.01 USD of 1234.50 USD"],
  ["-0.125", "0", "-0.13 USD of 0.00 USD"],
])("a sentence has %s and %s as short amounts, its figures have them exactly", (spent, amount, shown) => {
  const { message, figures } = operatorMessage("finding.budget", { ...BUDGET, spent, amount });
  expect(message).toBe(`acme has spent at least 80 % of its budget: ${shown} this month.`);
  expect(figures).toMatchObject({ spent, amount });
});

test("a sentence agrees with its count, and has the text of a known reason", () => {
  expect(operatorMessage("part.backlog", { count: 1 }).message).toBe("1 charge waits for the ledger.");
  expect(operatorMessage("part.backlog", { count: 2 }).message).toBe("2 charges wait for the ledger.");
  expect(operatorMessage("cause.ejection", { target: "a/b", reason: "limited" }).message).toBe(
    "a/b is out of service: the vendor's limits are reached.",
  );
  expect(operatorMessage("cause.ejection", { target: "{{reason}}", reason: "new" }).message).toBe(
    "{{reason}} is out of service: new.",
  );
});
