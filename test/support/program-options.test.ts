import { expect, test } from "bun:test";
import { PROGRAM_ROOT } from "../../src/lib/program-files.ts";

test("a program of the tests prints its usage, and refuses an unknown option, before it does anything", async () => {
  const [help, unknown] = await Promise.all([run("--help"), run("--frob")]);
  expect(help).toMatchObject({ code: 0, errors: "" });
  expect(help.out).toStartWith("Usage: npm run soak -- [options]\n");
  expect(help.out).toContain("--minutes N  how long it runs (default 60)\n");
  expect(unknown).toMatchObject({ code: 2, out: "" });
  expect(unknown.errors).toContain("--frob");
  expect(unknown.errors).toContain(help.out);
});

async function run(option: string) {
  const command = [process.execPath, "test/soak/run.ts", option];
  const child = Bun.spawn(command, { cwd: PROGRAM_ROOT, stdout: "pipe", stderr: "pipe" });
  const [out, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, out, errors };
}
