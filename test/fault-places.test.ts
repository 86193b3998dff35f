import { expect, test } from "bun:test";
import { join } from "node:path";
import { MENDS } from "./battery/mends.ts";
import { problemsOf } from "./battery/without-mends.ts";

// The programs that use the lists of faults and of protections run for many minutes. These tests find within seconds an
// entry whose text is missing in the sources.

test("each fault of the mutation list has its place and its tests", async () => {
  const list = Bun.spawn([process.execPath, join(import.meta.dir, "mutation/run.ts"), "--list"]);
  const output = await new Response(list.stdout).text();
  expect({ code: await list.exited, output }).toMatchObject({ code: 0 });
});

test("each mend of the battery's attacks has its place", async () => {
  expect(await problemsOf(MENDS)).toEqual([]);
});
