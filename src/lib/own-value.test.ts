import { expect, test } from "bun:test";
import { ownValue } from "./own-value.ts";

test("a table has what was put into it, and nothing that objects inherit", () => {
  const table: Record<string, number> = Object.assign(Object.create({ inherited: 2 }), { known: 1 });
  expect(ownValue(table, "known")).toBe(1);
  for (const name of ["inherited", "unknown", "constructor", "toString", "__proto__"])
    expect(ownValue(table, name)).toBeUndefined();
});
