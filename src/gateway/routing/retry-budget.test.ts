import { expect, test } from "bun:test";
import { RetryBudget } from "./call-bounds.ts";

const time = { now: 0 };
const clock = { now: () => 0, monotonic: () => time.now };

/** Requests 50 retries. Returns the number of granted retries. */
function granted(budget: RetryBudget, target = "t"): number {
  return Array.from({ length: 50 }, () => budget.takeRetry(target)).filter(Boolean).length;
}

test("retries are a share of the calls of ten seconds, which leaves the window with them", () => {
  const budget = new RetryBudget(clock, 0.5, 1);
  time.now = 0;
  for (let call = 0; call < 10; call += 1) budget.countCall("t", time.now);
  expect(granted(budget)).toBe(6);
  expect(granted(budget, "another")).toBe(1);
  // Calls and retries of the older half of the window still count.
  time.now = 5_000;
  expect(granted(budget)).toBe(0);
  // No call or retry is left in the window, so only the minimum remains.
  time.now = 10_000;
  expect(granted(budget)).toBe(1);
});

test("calls of long ago allow no retries of a target that was not called since", () => {
  const budget = new RetryBudget(clock, 1, 0);
  time.now = 0;
  for (let call = 0; call < 5; call += 1) budget.countCall("t", time.now);
  time.now = 30_000;
  expect(granted(budget)).toBe(0);
  budget.countCall("t", time.now);
  expect(granted(budget)).toBe(1);
});
