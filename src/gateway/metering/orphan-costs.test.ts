import { expect, test } from "bun:test";
import { OrphanCosts } from "./billing.ts";

function open(cap: bigint | null) {
  const time = { now: 0 };
  const costs = new OrphanCosts(cap, { now: () => 0, monotonic: () => time.now });
  const isBlocked = (key: string): boolean => {
    try {
      costs.require(key);
      return false;
    } catch {
      return true;
    }
  };
  return { costs, time, isBlocked };
}

test("a key that reached the cap is refused until the hour is over, others are not", () => {
  const { costs, time, isBlocked } = open(10n);
  costs.add("a", 9n);
  expect(isBlocked("a")).toBe(false);
  costs.add("a", 1n);
  expect([isBlocked("a"), isBlocked("b")]).toEqual([true, false]);
  time.now = 60 * 60_000;
  expect(isBlocked("a")).toBe(false);
});

test("without a cap nobody is refused", () => {
  const { costs, isBlocked } = open(null);
  costs.add("a", 10n ** 12n);
  expect(isBlocked("a")).toBe(false);
});
