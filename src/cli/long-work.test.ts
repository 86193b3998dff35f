import { expect, test } from "bun:test";
import { progressText } from "./long-work.ts";

test.each([
  ["Copying. 0 s", { done: 0, total: undefined, elapsedMs: 0 }],
  ["Copying. 1200, 3 s", { done: 1200, total: undefined, elapsedMs: 3_000 }],
  ["Copying. 45 %", { done: 45, total: 100, elapsedMs: 500 }],
  ["Copying. 25 %, 1 min 30 s left", { done: 25, total: 100, elapsedMs: 30_000 }],
  ["Copying. 1 %, 1 h 39 min left", { done: 1, total: 100, elapsedMs: 60_000 }],
  ["Copying. 100 %", { done: 120, total: 100, elapsedMs: 30_000 }],
  ["Copying. 0 s", { done: 0, total: 0, elapsedMs: 0 }],
] as const)("a step shows '%s'", (text, progress) => {
  expect(progressText("Copying.", progress)).toBe(text);
});
