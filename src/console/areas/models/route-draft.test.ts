import { expect, test } from "bun:test";
import { reordered, sharesOf, stepped, targetName, type DraftTarget } from "./route-draft.ts";

const TARGETS: DraftTarget[] = [
  { channel: "one", upstreamModel: "a", weight: 3 },
  { channel: "two", upstreamModel: "b/c", weight: 1 },
  { channel: "three", upstreamModel: "a", weight: 4 },
];
const names = (targets: readonly DraftTarget[]) => targets.map(targetName);

test("targets are dropped before or after another one", () => {
  expect(names(reordered(TARGETS, new Set(["three/a"]), { to: "one/a", position: "before" }))).toEqual([
    "three/a",
    "one/a",
    "two/b/c",
  ]);
  expect(names(reordered(TARGETS, new Set(["one/a"]), { to: "two/b/c", position: "after" }))).toEqual([
    "two/b/c",
    "one/a",
    "three/a",
  ]);
});

test("a target dropped on itself stays where it is", () => {
  expect(names(reordered(TARGETS, new Set(["one/a"]), { to: "one/a", position: "after" }))).toEqual(
    names(TARGETS),
  );
});

test("a step beyond an end changes nothing", () => {
  expect(names(stepped(TARGETS, 0, 1))).toEqual(["two/b/c", "one/a", "three/a"]);
  expect(names(stepped(TARGETS, 0, -1))).toEqual(names(TARGETS));
  expect(names(stepped(TARGETS, 2, 1))).toEqual(names(TARGETS));
});

test("weights are shares of their sum, and in order the first has all requests", () => {
  expect(sharesOf({ strategy: "weighted", targets: TARGETS })).toEqual([0.375, 0.125, 0.5]);
  expect(sharesOf({ strategy: "ordered", targets: TARGETS })).toEqual([1, 0, 0]);
});
