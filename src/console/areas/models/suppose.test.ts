import { expect, test } from "bun:test";
import { suppose } from "./suppose.ts";

const TARGETS = [
  { name: "one/a", weight: 3, isEjected: false },
  { name: "two/b", weight: 1, isEjected: false },
  { name: "three/c", weight: 1, isEjected: true },
];
const shares = (strategy: "ordered" | "weighted", ...down: string[]) =>
  suppose(TARGETS, strategy, new Set(down)).map(({ share }) => share);

test("in order, the first that works is called by every request", () => {
  expect(shares("ordered")).toEqual([1, 0, 0]);
  expect(shares("ordered", "one/a")).toEqual([0, 1, 0]);
});

test("by weight, those that work divide the requests of those that are down", () => {
  expect(shares("weighted")).toEqual([0.75, 0.25, 0]);
  expect(shares("weighted", "one/a")).toEqual([0, 1, 0]);
});

test("nothing is called when all are down", () => {
  expect(shares("ordered", "one/a", "two/b")).toEqual([0, 0, 0]);
  expect(shares("weighted", "one/a", "two/b")).toEqual([0, 0, 0]);
});
