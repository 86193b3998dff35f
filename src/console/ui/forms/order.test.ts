import { expect, test } from "bun:test";
import { moved, reordered } from "./order.ts";

const items = ["a", "b", "c"].map((id) => ({ id }));
const ids = (list: readonly { id: string }[]): string => list.map(({ id }) => id).join("");

test.each([
  [0, 1, "bac"],
  [2, -1, "acb"],
  [0, -1, "abc"],
  [2, 1, "abc"],
  [0, 2, "bca"],
])("the item at %i moved by %i stays within the list", (index, by, expected) => {
  expect(ids(moved(items, index, by))).toBe(expected);
});

test.each([
  [["a"], "c", "after", "bca"],
  [["a"], "c", "before", "bac"],
  [["c", "a"], "b", "before", "acb"],
  [["a"], "gone", "after", "abc"],
] as const)("%o are put at %s, %s", (taken, to, position, expected) => {
  expect(ids(reordered(items, new Set(taken), { to, position }, ({ id }) => id))).toBe(expected);
});
