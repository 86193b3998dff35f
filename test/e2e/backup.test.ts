import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newMasterKey } from "../../src/lib/seal.ts";
import { dumpPostgres } from "../../src/storage/backup/postgres-backup.ts";
import { openStores } from "../../src/storage/tables/stores.ts";
import { signIn } from "../support/administration.ts";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";
import { findPostgres, startPostgres, type PrivatePostgres } from "../support/postgres.ts";

/* A backup is made under load and restored elsewhere. The backup has the charges of all earlier responses. */
const CHAT = { model: "sandbox-chat", messages: [{ role: "user", content: "Hello" }] };
const PICTURE = { model: "sandbox-a", prompt: "A house" };
const GATEWAY_MASTER_KEY = newMasterKey();

const found = findPostgres();
if ("missing" in found) console.warn(`SKIPPED: backups of PostgreSQL (${found.missing})`);
const hasPrograms = Bun.which("pg_dump") && Bun.which("pg_restore");
if (!hasPrograms) console.warn("SKIPPED: backups of PostgreSQL (pg_dump and pg_restore are not on PATH)");

let folder: string;
let postgres: PrivatePostgres | null = null;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "gateway-backup-"));
  if (!("missing" in found) && hasPrograms) postgres = await startPostgres(found.folder);
}, 30_000);
afterAll(async () => {
  await postgres?.stop();
  await rm(folder, { recursive: true, force: true });
});

const isSkipped = { sqlite: false, postgres: "missing" in found || !hasPrograms };

describe.each(["sqlite", "postgres"] as const)("a backup of %s", (kind) => {
  const environment = async (): Promise<Record<string, string>> => ({
    GATEWAY_MASTER_KEY,
    ...(kind === "postgres" && { DATABASE_URL: await postgres!.createDatabase() }),
  });

  test.skipIf(isSkipped[kind])(
    "made under load has each charge once",
    async () => {
      const made = await environment();
      await using source = await startTestGateway({ env: made });
      const env = withTwoHosts({ ...made, GATEWAY_DATA_DIR: source.dataDirectory });
      expect((await source.call("/v1/images/generations", { body: PICTURE })).status).toBe(200);
      const path = join(folder, `${kind}.tar`);
      const { answered, output } = await underLoad(source, async () => {
        const { stdout, stderr } = await command(env, "backup", path);
        return stdout + stderr;
      });
      expect(output).toMatch(/^Not in it: 1 picture \(\d+ bytes\), which it lists\.$/m);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(readdirSync(folder).filter((name) => name.includes("partial"))).toEqual([]);

      await using target = await startTestGateway({ env: { GATEWAY_MASTER_KEY } });
      await target.stop();
      await rm(target.dataDirectory, { recursive: true });
      const placed = { ...(await environment()), GATEWAY_DATA_DIR: target.dataDirectory };
      expect(await command(withTwoHosts(placed), "restore", path)).toMatchObject({ code: 0, stderr: "" });
      await using restored = await startTestGateway({
        env: { ...placed, GATEWAY_BOOTSTRAP_KEY: source.key },
      });
      const rows = await restored.ledger();
      const [, entries, waiting] = /: (\d+) ledger entr(?:y|ies), (\d+) charges? in journals\.$/m.exec(
        output,
      )!;
      expect({ rows: rows.length, entries }).toEqual({ rows: Number(entries) + Number(waiting), entries });
      const charges = Map.groupBy(rows, ({ request_id }) => request_id);
      expect(answered.filter((id) => charges.get(id)?.length !== 1)).toEqual([]);
      expect([...charges.values()].filter(({ length }) => length > 1)).toEqual([]);
      expect(await restored.cli("ledger", "verify")).toContain("no difference.\n");
      expect(await restored.cli("budgets", "in-doubt")).not.toContain("proc_");
      expect((await restored.call("/v1/chat/completions", { body: CHAT })).status).toBe(200);
      if (kind === "postgres") return;
      expect(statSync(join(restored.dataDirectory, "gateway.sqlite")).mode & 0o777).toBe(0o600);
    },
    60_000,
  );
});

describe("a restore", () => {
  let gateway: TestGateway;
  let path: string;
  beforeAll(async () => {
    gateway = await startTestGateway({ env: { GATEWAY_MASTER_KEY } });
    path = join(folder, "one.tar");
    await chat(gateway, "before");
    await gateway.cli("backup", path);
  });
  afterAll(() => gateway?.[Symbol.asyncDispose]());

  test("refuses a data folder in use, also by force", async () => {
    await expect(gateway.cli("restore", path, "--force")).rejects.toThrow(
      "works on this data folder: stop it",
    );
    // Simulates a command, which uses the database but has no journal.
    const data = await emptyFolder();
    await cp(gateway.dataDirectory, data, { recursive: true });
    await rm(join(data, "journal"), { recursive: true });
    using database = new Database(join(data, "gateway.sqlite"));
    database.query("SELECT * FROM sqlite_schema").all();
    expect(await command(environmentOf(data), "restore", path, "--force")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("works on this data folder"),
    });
  });

  test("replaces a database by force only, keeps it, and posts journals that were there", async () => {
    const data = await emptyFolder();
    await using other = await startTestGateway({ env: environmentOf(data) });
    // Below, the database goes back to the backup. Then this charge is only in a journal.
    await chat(other, "after");
    await until("the charge in the ledger", async () =>
      (await metric(other, "gateway_ledger_backlog")) === 0 ? true : undefined,
    );
    await other.kill();
    const env = { ...environmentOf(data), GATEWAY_BOOTSTRAP_KEY: other.key };
    expect((await command(env, "restore", path)).stderr).toContain("exist: with --force");
    const forced = await command(env, "restore", path, "--force");
    expect(forced).toMatchObject({ code: 0, stderr: "" });
    expect(readdirSync(data).filter((name) => name.startsWith("gateway.sqlite.replaced-"))).not.toEqual([]);
    await other.restart();
    expect((await other.ledger()).map(({ request_id }) => request_id).toSorted()).toEqual([
      "after",
      "before",
    ]);
    expect(await metric(other, "gateway_restored_charges_total")).toBe(1);
    expect(other.logs().map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/^posted 1 charge of proc_\w+ again that the database had lost$/),
    );
  }, 30_000);

  test("verifies a backup before it replaces anything", async () => {
    const data = await emptyFolder();
    const damaged = join(folder, "damaged.tar");
    const content = readFileSync(path);
    const page = content.indexOf("SQLite format 3") + 3 * 4096;
    writeFileSync(damaged, content.fill(0x55, page, page + 64));
    expect((await command(environmentOf(data), "restore", damaged)).stderr).toBe(
      "error: the backup is damaged: database.sqlite\n",
    );
    writeFileSync(damaged, "no archive at all, only a text of some length".repeat(50));
    expect((await command(environmentOf(data), "restore", damaged)).stderr).toContain("no whole backup");
    writeFileSync(damaged, readFileSync(path).subarray(0, 60_000));
    expect((await command(environmentOf(data), "restore", damaged)).code).toBe(1);
    expect(readdirSync(data)).toEqual([]);
  });

  test("refuses another master key", async () => {
    const data = await emptyFolder();
    const env = { ...environmentOf(data), GATEWAY_MASTER_KEY: newMasterKey() };
    expect((await command(env, "restore", path)).stderr).toContain("sealed with the master key");
    expect(existsSync(join(data, "gateway.sqlite"))).toBe(false);
    expect((await command(env, "restore", path, "--force")).stdout).toContain(
      "Warning: its credentials are sealed",
    );
  });

  test("finds no master key in the backup", () => {
    expect(readFileSync(path).includes(GATEWAY_MASTER_KEY)).toBe(false);
  });

  test("gives a database that is backed up again, unless it is damaged", async () => {
    const data = await emptyFolder();
    await command(environmentOf(data), "restore", path);
    const again = join(folder, "again.tar");
    expect(await command(environmentOf(data), "backup", again)).toMatchObject({ code: 0, stderr: "" });
    const location = join(data, "gateway.sqlite");
    writeFileSync(location, readFileSync(location).fill(0x55, 8 * 4096));
    const made = await command(environmentOf(data), "backup", join(folder, "refused.tar"));
    expect(made).toMatchObject({ code: 1, stderr: expect.stringContaining("malformed") });
    expect(readdirSync(folder).filter((name) => name.startsWith("refused.tar"))).toEqual([]);
  });
});

test("a backup replaces no file", async () => {
  const path = join(folder, "existing.tar");
  writeFileSync(path, "mine");
  const made = await command(environmentOf(await emptyFolder()), "backup", path);
  expect(made.stderr).toBe(`error: ${path} exists: name another file\n`);
  expect(readFileSync(path, "utf8")).toBe("mine");
});

test.skipIf(isSkipped.postgres)("a backup of PostgreSQL names the program that it lacks", async () => {
  const location = await postgres!.createDatabase();
  await (await openStores(location)).database.close();
  const server = { location, environment: { PATH: "/nowhere" } };
  const dump = dumpPostgres(server, join(folder, "database.dump"), {
    copyJournals: () => join(folder, "journal"),
    onProgress: () => {},
  });
  await expect(dump).rejects.toThrow("pg_dump is not on PATH: install the client programs of PostgreSQL");
});

/**
 * Adds a first host that refuses connections to the address of PostgreSQL. PostgreSQL's programs must find the second
 * one.
 */
function withTwoHosts(env: Record<string, string>): Record<string, string> {
  const address = env["DATABASE_URL"];
  return address === undefined ? env : { ...env, DATABASE_URL: address.replace("@", "@127.0.0.1:1,") };
}

async function metric(gateway: TestGateway, name: string): Promise<number> {
  const metrics = await (await gateway.call("/metrics")).text();
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(metrics)?.[1]);
}

async function chat(gateway: TestGateway, requestId: string): Promise<void> {
  const response = await gateway.call("/v1/chat/completions", {
    body: CHAT,
    headers: { "x-request-id": requestId },
  });
  expect(response.status).toBe(200);
  await response.text();
}

/** Runs `act` under a load of chats and the console's reads. `answered` are the chats that ended before `act`. */
async function underLoad(gateway: TestGateway, act: () => Promise<string>) {
  const admin = await signIn(gateway);
  const done: string[] = [];
  const over = new AbortController();
  const load = Promise.all([
    ...[1, 2, 3].map(async (client) => {
      for (let turn = 0; !over.signal.aborted; turn++) {
        await chat(gateway, `load-${client}-${turn}`);
        done.push(`load-${client}-${turn}`);
      }
    }),
    (async () => {
      while (!over.signal.aborted) await admin.act("GET", "/ledger");
    })(),
  ]);
  try {
    await until("some load", () => (done.length > 30 ? true : undefined));
    const answered = [...done];
    return { answered, output: await act() };
  } finally {
    over.abort();
    await load;
  }
}

function environmentOf(data: string): Record<string, string> {
  return { GATEWAY_MASTER_KEY, GATEWAY_DATA_DIR: data };
}

async function emptyFolder(): Promise<string> {
  return await mkdtemp(join(folder, "data-"));
}

/** Runs a command without a running gateway. */
async function command(env: Record<string, string>, ...args: string[]) {
  const { MACHINE, runCommand } = await import("../support/command-line.ts");
  const environment = { PATH: process.env["PATH"] ?? "", ...env };
  return await runCommand(args, { env: environment, cwd: folder, ...MACHINE });
}
