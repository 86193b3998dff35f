import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MACHINE, runCommand } from "../support/command-line.ts";
import { startOnTerminal } from "../support/terminal.ts";

/* Commands that may take minutes, on a terminal. They show progress, and Ctrl-C ends them without harm. */
let folder: string;
let data: string;
const backupPath = () => join(folder, "whole.tar");
const environment = (dataFolder = data) => ({ GATEWAY_DATA_DIR: dataFolder });
const command = (...args: string[]) =>
  runCommand(args, { ...MACHINE, env: environment(), cwd: process.cwd() });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "gateway-long-"));
  data = join(folder, "data");
  expect((await command("demo")).code).toBe(0);
}, 120_000);
afterAll(() => rm(folder, { recursive: true }));

/** Runs a command on a terminal and presses Ctrl-C when the command shows a text. Returns the result. */
async function interruptAt(text: string, args: readonly string[], dataFolder = data) {
  await using running = startOnTerminal(args, environment(dataFolder));
  await running.untilShown(text);
  running.interrupt();
  const code = await running.exited;
  return { code, shown: running.shown() };
}

/** Locks the database against writes. */
function lockDatabase() {
  const database = new Database(join(data, "gateway.sqlite"));
  database.run("PRAGMA busy_timeout = 5000");
  database.run("BEGIN IMMEDIATE");
  return { release: () => database.close() };
}

test("a backup on a terminal shows its steps with their progress on one line each", async () => {
  await using running = startOnTerminal(["backup", backupPath()], environment());
  expect(await running.exited).toBe(0);
  const lines = Bun.stripANSI(running.shown())
    .split("\n")
    .map((line) => line.split("\r").findLast(Boolean) ?? "");
  const steps = ["Copying the database.", "Verifying the copy.", "Listing pictures.", "Writing the file."];
  for (const [index, step] of steps.entries())
    expect(lines[index]).toMatch(new RegExp(`^${step} (?:\\d+, )?\\d+ s$`));
  expect(running.shown()).toMatch(/Writing the file\. \d+ %/);
  expect(running.shown()).toMatch(/ledger entries/);
}, 120_000);

test("where no terminal is, nothing is said but the lines that were said before", async () => {
  const { code, stdout, stderr } = await command("backup", join(folder, "piped.tar"));
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toStartWith(
    "Copying the database.\nVerifying the copy.\nListing pictures.\nWriting the file.\n",
  );
}, 60_000);

test("a backup that is interrupted leaves no file", async () => {
  const path = join(folder, "interrupted.tar");
  const { code, shown } = await interruptAt("Copying the database.", ["backup", path]);
  expect({ code, shown }).toEqual({
    code: 130,
    shown: expect.stringContaining(`Interrupted. ${path} was not written.`),
  });
  expect(readdirSync(folder).filter((name) => name.startsWith("interrupted"))).toEqual([]);
}, 120_000);

test("a restore that is interrupted leaves the database as it was", async () => {
  const before = Bun.hash(readFileSync(join(data, "gateway.sqlite")));
  const args = ["restore", "--force", backupPath()];
  const { code, shown } = await interruptAt("Unpacking and verifying the backup.", args);
  expect({ code, shown }).toEqual({
    code: 130,
    shown: expect.stringContaining("The database is as it was before."),
  });
  expect(Bun.hash(readFileSync(join(data, "gateway.sqlite")))).toBe(before);
  expect(readdirSync(data).filter((name) => /partial|replaced/.test(name))).toEqual([]);
}, 120_000);

test("a verification that is interrupted says so at once", async () => {
  const { code, shown } = await interruptAt("Comparing the ledger.", ["ledger", "verify"]);
  expect({ code, shown }).toEqual({
    code: 130,
    shown: expect.stringContaining("Interrupted. Nothing was changed."),
  });
}, 120_000);

test("a correction of prices that is interrupted keeps what it has booked, and the same command books the rest", async () => {
  const from = new Date(Date.now() - 30 * 86_400_000).toISOString();
  const amounts = ["--tokens", "input=1", "--tokens", "output=2"];
  const args = ["prices", "correct", "sandbox-chat", "--from", from, "--reason", "test", ...amounts];
  const { code, shown } = await interruptAt("Booking corrections.", [...args, "--apply"]);
  expect({ code, shown }).toEqual({
    code: 130,
    shown: expect.stringContaining(
      "Interrupted. Booked corrections stay; the same command books the others.",
    ),
  });
  expect((await command(...args)).stdout).toContain("repeat with --apply");
  expect(await command(...args, "--apply")).toMatchObject({ code: 0 });
  expect((await command(...args)).stdout).toEndWith("Nothing to correct.\n");
  expect((await command("ledger", "verify")).code).toBe(0);
}, 120_000);

test("an import that is interrupted changes nothing", async () => {
  const path = join(folder, "members.yaml");
  const members = Array.from({ length: 50 }, (_, index) => [
    `member-${index}`,
    { role: "viewer", organizations: "*" },
  ]);
  await writeFile(
    path,
    JSON.stringify({
      members: Object.fromEntries([["admin", { role: "owner", organizations: "*" }], ...members]),
    }),
  );
  const { code, shown } = await interruptAt("Importing members.", ["config", "import", path]);
  expect({ code, shown }).toEqual({
    code: 130,
    shown: expect.stringContaining("Interrupted. Nothing was changed."),
  });
  expect(shown).toMatch(/Importing members\. \d+ %/);
  expect((await command("members", "list")).stdout).not.toContain("member-");
}, 120_000);

test("a migration that is interrupted while another process writes changes nothing", async () => {
  const locked = lockDatabase();
  const { code, shown } = await interruptAt("Waiting for the database.", ["migrate"]);
  locked.release();
  expect({ code, shown }).toEqual({
    code: 130,
    shown: expect.stringContaining("Interrupted. The database has all of the changes or none"),
  });
  expect((await command("migrate")).stdout).toBe("The database is up to date.\n");
}, 120_000);

test("a demo that is interrupted leaves nothing", async () => {
  const other = join(folder, "other");
  const { code, shown } = await interruptAt("Writing requests.", ["demo"], other);
  expect({ code, shown }).toEqual({
    code: 130,
    shown: expect.stringContaining("Nothing is left of the demo."),
  });
  expect(existsSync(join(other, "gateway.sqlite"))).toBe(false);
}, 120_000);

test("tables have colors on a terminal, unless NO_COLOR is set", async () => {
  for (const [env, isColored] of [
    [{}, true],
    [{ NO_COLOR: "1" }, false],
  ] as const) {
    await using running = startOnTerminal(["orgs", "list"], { ...environment(), ...env });
    expect(await running.exited).toBe(0);
    expect(running.shown().includes("\u001B[32mactive\u001B[0m")).toBe(isColored);
  }
}, 120_000);
