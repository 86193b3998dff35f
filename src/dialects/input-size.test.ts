import { expect, test } from "bun:test";
import { InputSize } from "./input-size.ts";

const ceilingOf = (size: InputSize) => size.tokens.inputCeiling;

test("a small document may have many pages, each worth a picture", () => {
  const size = new InputSize(1_000, 1_000);
  size.addMedia("x".repeat(100));
  expect(ceilingOf(size)).toBe(1_000 + 31 * 100);
});

test("a large document is worth no more than the largest prompt beside its bytes", () => {
  const size = new InputSize(10_000_000, 10_000_000);
  size.addMedia("x".repeat(9_000_000));
  expect(ceilingOf(size)).toBe(10_000_000 + 1_048_576);
});
