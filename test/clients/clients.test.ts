import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCell } from "./cell.ts";
import type { Installed } from "./install.ts";
import { PROGRAMS } from "./programs.table.ts";
import { RECIPE_NAMES } from "./recipes.ts";
import { SCENARIOS } from "./scenarios.table.ts";

/* The cells of `npm run clients` that need only the packages of this project. */
let installed: Installed;
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "gateway-clients-"));
  await symlink(new URL("../../node_modules", import.meta.url).pathname, join(folder, "node_modules"));
  installed = { folder, env: { PATH: process.env["PATH"] ?? "" } };
});
afterAll(() => rm(installed.folder, { recursive: true, force: true }));

test("every client with blocks in docs/connect is a program that is run", () => {
  const used = new Set(PROGRAMS.map(({ name, recipe = name }) => recipe));
  expect(RECIPE_NAMES.toSorted()).toEqual([...used].toSorted());
});

const task = SCENARIOS.find(({ name }) => name === "task")!;

describe.each([
  ["AI SDK", "over-messages"],
  ["AI SDK with responses", "over-chat"],
  ["Google Gen AI for JavaScript", "over-native"],
] as const)("the block of %s", (name, vendor) => {
  test("does a task of two turns", async () => {
    const program = PROGRAMS.find((each) => each.name === name)!;
    const { signal } = new AbortController();
    const result = await runCell(program, task, { vendor, installed, signal });
    expect(result).toMatchObject({ outcome: "done", reason: "", requests: 3 });
  });
});
