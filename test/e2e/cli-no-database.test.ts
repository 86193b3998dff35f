import { expect, test } from "bun:test";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildProgram, type CliContext } from "../../src/cli/index.ts";
import { MACHINE, runCommand } from "../support/command-line.ts";
import { findPostgres, startPostgres } from "../support/postgres.ts";

/*
 * Commands that need the gateway's data, where no database is. They must fail, because an empty result would be
 * mistaken for that data.
 */
const READING = [
  "ledger verify",
  "ledger list",
  "ledger export",
  "ledger show req_1",
  "ledger archive --before 2020-01 --to archive",
  "audit list",
  "audit verify",
  "usage",
  "config export",
  "keys list",
  "orgs list",
  "budgets list",
  "channels list",
  "jobs list",
  "members list",
  "routes show sandbox-chat",
  "orgs show default",
  "jobs show job_1",
  "webhooks list",
  "prices list",
  "prices correct sandbox-chat --from 2026-01-01 --reason late --tokens input=1",
  "backup backup.tar",
];

async function outcomeOf(line: string, env: Record<string, string>, cwd: string) {
  return await runCommand(line.split(" "), { ...MACHINE, env, cwd });
}

test.each(READING)("%s fails in a folder without a database, and makes none", async (line) => {
  const folder = await mkdtemp(join(tmpdir(), "gateway-none-"));
  const { code, stdout, stderr } = await outcomeOf(line, { GATEWAY_DATA_DIR: join(folder, "data") }, folder);
  expect(stderr).toContain(`error: there is no database ${join(folder, "data/gateway.sqlite")}`);
  expect(code).toBe(1);
  expect(stdout).not.toContain("no difference");
  expect((await readdir(folder, { recursive: true })).filter((name) => name.includes("sqlite"))).toEqual([]);
  await rm(folder, { recursive: true });
});

test("every command that lists, shows or verifies is among them", () => {
  const program = buildProgram({ ...MACHINE, env: {}, cwd: "/" } as unknown as CliContext);
  const names = program.commands.flatMap((command) =>
    command.commands.map((inner) => `${command.name()} ${inner.name()}`),
  );
  const reading = names.filter((name) => / (list|show|verify)$/.test(name));
  expect(reading.length).toBeGreaterThan(10);
  expect(reading.filter((name) => !READING.some((line) => line.startsWith(name)))).toEqual([]);
});

test("a file without content, and an empty PostgreSQL database, are no database", async () => {
  const folder = await mkdtemp(join(tmpdir(), "gateway-none-"));
  await Bun.write(join(folder, "gateway.sqlite"), "");
  const empty = await outcomeOf("ledger verify", { GATEWAY_DATA_DIR: folder }, folder);
  expect(empty).toMatchObject({ code: 1, stdout: "" });
  expect(empty.stderr).toStartWith("error: there is no database ");
  const found = findPostgres();
  if ("missing" in found) return console.warn(`SKIPPED: an empty PostgreSQL database (${found.missing})`);
  const postgres = await startPostgres(found.folder);
  const env = { DATABASE_URL: await postgres.createDatabase() };
  for (const [line, text] of [
    ["ledger verify", "error: the database that DATABASE_URL names is empty: "],
    ["backup backup.tar", "error: the database is empty: no gateway has made its tables\n"],
  ] as const)
    expect(await outcomeOf(line, env, folder)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(text),
    });
  await postgres.stop();
  await rm(folder, { recursive: true });
}, 30_000);

test("what makes a document or a channel needs none", async () => {
  const folder = await mkdtemp(join(tmpdir(), "gateway-none-"));
  await Bun.write(join(folder, "litellm.yaml"), "model_list: []\n");
  const made = await outcomeOf(
    `import litellm ${join(folder, "litellm.yaml")}`,
    { GATEWAY_DATA_DIR: join(folder, "data") },
    folder,
  );
  expect(made).toMatchObject({ code: 0 });
  await rm(folder, { recursive: true });
}, 30_000);
