import { expect, test } from "bun:test";
import { NestedMap } from "./nested-map.ts";

test("a value is found by all of its keys in their order, and by nothing else", () => {
  const map = new NestedMap<number>();
  map.set(["a", "b"], 1);
  map.set(["b", "a"], 2);
  map.set(["a", ""], 3);
  expect(map.get(["a", "b"])).toBe(1);
  expect(map.get(["b", "a"])).toBe(2);
  expect(map.get(["a", ""])).toBe(3);
  for (const keys of [["a"], ["ab"], ["a", "a"], ["b", "b"], ["a", "b", "c"]])
    expect(map.get(keys)).toBeUndefined();
});

test("setting again replaces, and entries come in the order of their first keys", () => {
  const map = new NestedMap<number>();
  map.set(["x", "1"], 1);
  map.set(["y", "1"], 2);
  map.set(["x", "2"], 3);
  map.set(["x", "1"], 4);
  expect(map.size).toBe(3);
  expect([...map.entries()]).toEqual([
    [["x", "1"], 4],
    [["x", "2"], 3],
    [["y", "1"], 2],
  ]);
});
