import { expect, test } from "bun:test";
import { isAmount, subtract, sum } from "./amount.ts";

test("Amounts are added and subtracted without losing a digit", () => {
  expect(sum(["0.1", "0.2", "0.000000003"])).toBe("0.300000003");
  expect(sum([])).toBe("0.00");
  expect(subtract("10", "0.04")).toBe("9.96");
  expect(subtract("0.04", "10.00")).toBe("-9.96");
  expect(sum(["-1.5", "0.25"])).toBe("-1.25");
});

test("Only plain decimals are amounts", () => {
  for (const text of ["12.50", "0", "999999999.123456789"]) expect(isAmount(text)).toBe(true);
  for (const text of ["", "-1", "1e3", "1.", ".5", "1234567890", "1,5", "=1"])
    expect(isAmount(text)).toBe(false);
});
