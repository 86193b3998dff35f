import { expect, test } from "bun:test";
import { compareWithModel } from "../battery/money-model.ts";

const OPERATIONS = 20_000;

test(`${OPERATIONS} random operations leave ledger, leases and budgets equal to the model`, async () => {
  expect(await compareWithModel(OPERATIONS)).toBe(true);
}, 120_000);
