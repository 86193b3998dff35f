import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { type ErrorCode, ERROR_CODES } from "../../src/domain/error-codes.table.ts";
import { MACHINE, runCommand } from "../support/command-line.ts";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

test("the demo fills an empty data folder with two weeks of traffic that verifies, and no other", async () => {
  const path = await mkdtemp(join(tmpdir(), "demo-"));
  await using _ = { [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
  const run = (...args: string[]) =>
    runCommand(args, { ...MACHINE, env: { GATEWAY_DATA_DIR: path }, cwd: process.cwd() });
  const filled = await run("demo");
  expect(filled).toMatchObject({ code: 0, stderr: "" });
  expect(Number(/Wrote (\d+) requests/.exec(filled.stdout)?.[1])).toBeGreaterThan(5_000);
  expect(filled.stdout).toMatch(/as admin with the password \S{12,}/);
  expect(await run("ledger", "verify")).toMatchObject({ code: 0 });
  expectRealFailures(path);
  const again = await run("demo");
  expect(again.code).toBe(1);
  expect(again.stderr).toContain("the demo needs an empty data folder");
});

/**
 * Checks that the demo's failures have endpoints, codes and statuses of the gateway, and that no budget is overspent.
 */
function expectRealFailures(path: string): void {
  using database = new Database(join(path, "gateway.sqlite"), { readonly: true });
  const failed = database
    .query<{ route: string; code: ErrorCode; status: number }, []>(
      "SELECT DISTINCT route, code, status FROM request_log WHERE is_failed = 1",
    )
    .all();
  for (const { code, status } of failed)
    expect({ code, status: Number(ERROR_CODES[code]?.status) }).toEqual({ code, status });
  const shortest = database
    .query<{ ms: number }, []>(
      "SELECT MIN(duration_ms) AS ms FROM request_log WHERE code = 'upstream_timeout'",
    )
    .get();
  expect(shortest?.ms).toBeGreaterThan(10_000);
  const over = database.query("SELECT id FROM budgets WHERE spent > amount").all();
  expect(over).toEqual([]);
  const routes = ["chat", "embeddings", "images.generations", "messages"];
  expect([...new Set(failed.map(({ route }) => route))].toSorted()).toEqual(routes);
}

test("the demo leaves an installation alone that is set up and has no traffic yet", async () => {
  const path = await mkdtemp(join(tmpdir(), "demo-"));
  await using _ = { [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
  const run = (...args: string[]) =>
    runCommand(args, { ...MACHINE, env: { GATEWAY_DATA_DIR: path }, cwd: process.cwd() });
  expect(await run("orgs", "create", "--name", "Real")).toMatchObject({ code: 0 });
  expect(await run("demo")).toMatchObject({ code: 1, stdout: "" });
  expect((await run("orgs", "list")).stdout).not.toContain("Storefront");
});
