import { expect, test } from "bun:test";
import { percentile, spreadOf } from "./statistics.ts";

test("a spread has median and extremes of values in any order", () => {
  expect(spreadOf([3, 1, 2])).toEqual({ median: 2, min: 1, max: 3 });
  expect(spreadOf([4, 1, 3, 2])).toEqual({ median: 2.5, min: 1, max: 4 });
});

test("a percentile has its share of the values below it", () => {
  const values = Array.from({ length: 100 }, (_, index) => 99 - index);
  expect(percentile(values, 0.5)).toBe(50);
  expect(percentile(values, 0.99)).toBe(99);
  expect(percentile([], 0.5)).toBeNaN();
});

test("a missing or infinite figure has no spread", () => {
  expect(() => spreadOf([1, Number.NaN, 3])).toThrow("No spread");
  expect(() => spreadOf([1, Number.POSITIVE_INFINITY])).toThrow("No spread");
  expect(() => spreadOf([])).toThrow("No spread");
});
