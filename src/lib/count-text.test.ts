import { expect, test } from "bun:test";
import { countText } from "./count-text.ts";

test("a count has the noun that agrees with it", () => {
  expect([0, 1, 2].map((count) => countText(count, "picture"))).toEqual([
    "0 pictures",
    "1 picture",
    "2 pictures",
  ]);
  expect(countText(1, "entry waits", "entries wait")).toBe("1 entry waits");
  expect(countText(2, "entry waits", "entries wait")).toBe("2 entries wait");
});
