import { expect, test } from "bun:test";
import { type CpuProfile, framesOf } from "./profile-frames.ts";

const node = (
  id: number,
  functionName: string,
  hitCount: number,
  children: number[] = [],
): CpuProfile["nodes"][number] => ({
  id,
  callFrame: { functionName, url: functionName === "(root)" ? "" : "/home/me/src/a.ts", lineNumber: 4 },
  hitCount,
  children,
});

test("a function called from two places is one frame, and a recursive one is counted once", () => {
  const profile = {
    nodes: [
      node(1, "(root)", 0, [2, 5]),
      node(2, "serve", 10, [3]),
      node(3, "walk", 20, [4]),
      node(4, "walk", 30),
      node(5, "walk", 40),
    ],
  };
  expect(framesOf(profile, "total")).toEqual([
    { name: "walk src/a.ts", total: 0.9, self: 0.9 },
    { name: "serve src/a.ts", total: 0.6, self: 0.1 },
  ]);
});

test("frames are in the order of the width that is asked for", () => {
  const profile = { nodes: [node(1, "outer", 1, [2]), node(2, "inner", 3)] };
  const names = (by: "total" | "self") => framesOf(profile, by).map(({ name }) => name.split(" ")[0]);
  expect([names("total"), names("self")]).toEqual([
    ["outer", "inner"],
    ["inner", "outer"],
  ]);
});
