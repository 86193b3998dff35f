import { expect, test } from "bun:test";
import { differences } from "./difference-table.tsx";

test("A change is shown by the fields that differ, with their paths", () => {
  const before = { name: "one", limits: { runningJobs: 2, queuedJobs: 5 }, models: ["a", "b"] };
  const after = {
    name: "one",
    limits: { runningJobs: null, queuedJobs: 5 },
    models: ["a"],
    isDisabled: true,
  };
  expect(differences(before, after)).toEqual([
    { path: "limits.runningJobs", before: "2", after: "null" },
    { path: "models", before: "a, b", after: "a" },
    { path: "isDisabled", before: undefined, after: "true" },
  ]);
});

test("What was created or removed is shown with all its fields", () => {
  expect(differences(null, { name: "new" })).toEqual([{ path: "name", before: undefined, after: "new" }]);
  expect(differences({ targets: [{ channel: "c" }] }, null)).toEqual([
    { path: "targets", before: '[{"channel":"c"}]', after: undefined },
  ]);
});

test("Equal values differ in nothing", () => {
  expect(differences({ a: { b: [1, 2] } }, { a: { b: [1, 2] } })).toEqual([]);
});

test("Times are written as such", () => {
  expect(differences({ expiresAt: null }, { expiresAt: 1_795_343_508_859 })).toEqual([
    { path: "expiresAt", before: "null", after: "2026-11-22T10:31:48.859Z" },
  ]);
});

test("Amounts are decimals of their currency", () => {
  const before = { price: { perMillion: { input: "2500000000" } } };
  const after = { price: { perMillion: { input: "25000000000" } } };
  expect(differences(before, after)).toEqual([
    { path: "price.perMillion.input", before: "2.50", after: "25.00" },
  ]);
});
