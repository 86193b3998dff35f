import { describe, expect, test } from "bun:test";
import { includesKey, PatternMap } from "./pattern-map.ts";

const entries = new Map([
  ["a/*", "short"],
  ["a/b*", "long"],
  ["a/bc", "own"],
]);
const map = new PatternMap(entries, (value, key, rest) => `${value} ${key} ${rest}`);

describe("a pattern", () => {
  test("covers keys without a value of their own, the longest one first", () => {
    expect(map.get("a/bc")).toBe("own");
    expect(map.get("a/bx")).toBe("long a/bx x");
    expect(map.get("a/x")).toBe("short a/x x");
    expect(map.get("b/x")).toBeUndefined();
  });

  test("covers no key that is nothing more than its beginning, and no other pattern", () => {
    expect(map.has("a/")).toBe(false);
    expect(map.has("a/c*")).toBe(false);
    expect(map.has(`a/${"x".repeat(300)}`)).toBe(false);
  });

  test("is declared, and what it covers is not", () => {
    expect(map.has("a/x")).toBe(true);
    expect(map.declared).toBe(entries);
  });

  test("still covers the same keys after every value was changed", () => {
    const changed = map.map((value) => value.toUpperCase());
    expect(["a/bc", "a/bx", "a/x", "b/x"].map((key) => changed.get(key))).toEqual([
      "OWN",
      "LONG a/bx x",
      "SHORT a/x x",
      undefined,
    ]);
  });

  test("of a list names what it covers", () => {
    const keys = new Set(["x", "a/*"]);
    expect(["x", "a/b", "a/*", "xy", "a"].map((key) => includesKey(keys, key))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
  });
});

test("a value is derived once, and the number of derived values is bounded", () => {
  let made = 0;
  const counted = new PatternMap(new Map([["p*", { made: 0 }]]), () => ({ made: ++made }));
  expect(counted.get("p1")).toBe(counted.get("p1")!);
  for (let at = 0; at < 5_000; at += 1) counted.get(`p${at}`);
  expect(made).toBeLessThan(5_010);
});
