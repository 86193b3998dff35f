import { expect, test } from "bun:test";
import { moved, reordered } from "../../ui/forms/order.ts";
import { sharesOf, simulateRoute, targetName, type DraftTarget } from "./route-draft.ts";

const TARGETS: DraftTarget[] = [
  { channel: "one", upstreamModel: "a", weight: 3 },
  { channel: "two", upstreamModel: "b/c", weight: 1 },
  { channel: "three", upstreamModel: "a", weight: 4 },
];
const names = (targets: readonly DraftTarget[]) => targets.map(targetName);
const dropped = (ids: ReadonlySet<string>, at: { to: string; position: "before" | "after" }) =>
  reordered(TARGETS, ids, at, targetName);

test("targets are dropped before or after another one", () => {
  expect(names(dropped(new Set(["three/a"]), { to: "one/a", position: "before" }))).toEqual([
    "three/a",
    "one/a",
    "two/b/c",
  ]);
  expect(names(dropped(new Set(["one/a"]), { to: "two/b/c", position: "after" }))).toEqual([
    "two/b/c",
    "one/a",
    "three/a",
  ]);
});

test("a target dropped on itself stays where it is", () => {
  expect(names(dropped(new Set(["one/a"]), { to: "one/a", position: "after" }))).toEqual(names(TARGETS));
});

test("a step beyond an end changes nothing", () => {
  expect(names(moved(TARGETS, 0, 1))).toEqual(["two/b/c", "one/a", "three/a"]);
  expect(names(moved(TARGETS, 0, -1))).toEqual(names(TARGETS));
  expect(names(moved(TARGETS, 2, 1))).toEqual(names(TARGETS));
});

test("weights are shares of their sum, and in order the first has all requests", () => {
  expect(sharesOf({ strategy: "weighted", targets: TARGETS })).toEqual([0.375, 0.125, 0.5]);
  expect(sharesOf({ strategy: "ordered", targets: TARGETS })).toEqual([1, 0, 0]);
});

const DRY_RUN = [
  { name: "one/a", weight: 3, isEjected: false },
  { name: "two/b", weight: 1, isEjected: false },
  { name: "three/c", weight: 1, isEjected: true },
];
const shares = (strategy: "ordered" | "weighted", ...down: string[]) =>
  simulateRoute(DRY_RUN, strategy, new Set(down)).map(({ share }) => share);

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
