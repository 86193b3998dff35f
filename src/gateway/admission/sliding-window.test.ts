import { expect, test } from "bun:test";
import fc from "fast-check";
import { SlidingWindow } from "./limits.ts";

const WINDOW_MS = 60_000;

test("what was added counts for the whole window and not after it", () => {
  const window = new SlidingWindow(WINDOW_MS);
  window.add(1_000, 10);
  expect(window.used(60_999)).toBe(10);
  expect(window.used(61_000)).toBe(0);
});

test("an amount added shortly after another one counts as long as that", () => {
  const window = new SlidingWindow(WINDOW_MS);
  window.add(0, 1);
  window.add(1_000, 2);
  expect([window.used(60_999), window.used(61_000)]).toEqual([3, 0]);
});

test("the time until nothing counts is that of the last addition", () => {
  const window = new SlidingWindow(WINDOW_MS);
  expect(window.resetMs(0)).toBe(0);
  window.add(0, 1);
  window.add(30_000, 1);
  expect(window.resetMs(40_000)).toBe(50_000);
});

test("no span of a window exceeds the limit, and uses count at most two seconds too long", () => {
  const steps = fc.array(
    fc.record({ afterMs: fc.integer({ min: 0, max: 20_000 }), amount: fc.integer({ min: 1, max: 4 }) }),
    {
      maxLength: 300,
    },
  );
  fc.assert(
    fc.property(steps, (steps) => {
      const limit = 10;
      const window = new SlidingWindow(WINDOW_MS);
      const admitted: { at: number; amount: number }[] = [];
      const sumSince = (since: number) =>
        admitted.reduce((sum, { at, amount }) => sum + (at > since ? amount : 0), 0);
      let now = 0;
      for (const { afterMs, amount } of steps) {
        now += afterMs;
        if (window.waitMs(now, limit, amount) === 0) {
          window.add(now, amount);
          admitted.push({ at: now, amount });
          expect(sumSince(now - WINDOW_MS)).toBeLessThanOrEqual(limit);
        } else {
          expect(sumSince(now - WINDOW_MS - 2_000) + amount).toBeGreaterThan(limit);
        }
      }
    }),
    { numRuns: 500 },
  );
});

test("the announced wait is exact", () => {
  const window = new SlidingWindow(WINDOW_MS);
  window.add(0, 6);
  window.add(30_000, 4);
  const waitMs = window.waitMs(40_000, 10, 3);
  expect(waitMs).toBe(20_000);
  expect(window.waitMs(40_000 + waitMs - 1, 10, 3)).toBe(1);
  expect(window.waitMs(40_000 + waitMs, 10, 3)).toBe(0);
});

test("a reduction subtracts from what was added at that time only", () => {
  const window = new SlidingWindow(WINDOW_MS);
  window.add(0, 100);
  window.add(10_000, 50);
  window.reduce(20_000, 10_000, 30);
  expect(window.used(20_000)).toBe(120);
  expect(window.used(60_000)).toBe(20);
});

test("a reduction of what has left the window, or beyond what was added, changes nothing else", () => {
  const window = new SlidingWindow(WINDOW_MS);
  window.add(0, 100);
  window.add(50_000, 40);
  window.reduce(61_000, 0, 100);
  expect(window.used(61_000)).toBe(40);
  window.add(62_000, 5);
  window.reduce(63_000, 62_000, 1_000);
  expect(window.used(63_000)).toBe(40);
});

test("a million additions take no more memory than one", () => {
  const window = new SlidingWindow(WINDOW_MS);
  for (let index = 0; index < 1_000_000; index++) window.add(index / 20, 1);
  expect(window.used(50_000)).toBe(1_000_000);
});
