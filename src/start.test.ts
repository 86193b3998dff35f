import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RUNTIME_VARIABLES } from "./config/environment.ts";

test("a start without the runtime's variables keeps the options of the runtime", async () => {
  const folder = await mkdtemp(join(tmpdir(), "start-"));
  const preload = join(folder, "preload.ts");
  await Bun.write(preload, 'console.log("preloaded")');
  const unset = Object.fromEntries(Object.keys(RUNTIME_VARIABLES).map((name) => [name, ""]));
  const child = Bun.spawn(
    [process.execPath, "--preload", preload, join(import.meta.dir, "start.ts"), "--version"],
    { env: { ...process.env, ...unset }, stdout: "pipe" },
  );
  // The module is loaded twice, because the process replaces itself after its start.
  expect((await child.stdout.text()).match(/preloaded/g)).toHaveLength(2);
  await rm(folder, { recursive: true });
});
