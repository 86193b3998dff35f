import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import packageFile from "../../package.json";
import { signIn } from "../support/administration.ts";
import { MACHINE, runCommand } from "../support/command-line.ts";
import { startTestGateway } from "../support/gateway.ts";
import { findPostgres, startPostgres, type PrivatePostgres } from "../support/postgres.ts";
import { RELEASE_ENVIRONMENT, RELEASES } from "./kept.ts";

/*
 * docs/run/versions.md: a release opens the databases of all releases of its major version. Machines of the previous
 * release can still work beside new machines. `test/releases/make.ts` stores a release's database.
 */
const found = findPostgres();
const hasPostgres = !("missing" in found) && Bun.which("pg_restore") !== null;
if (!hasPostgres)
  console.warn("SKIPPED: PostgreSQL databases of releases (postgres or pg_restore is missing)");
const kept = (await readdir(RELEASES)).filter((name) => /^\d+\.\d+\.\d+$/.test(name)).sort();

let folder: string;
let postgres: PrivatePostgres | null = null;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "gateway-upgrade-"));
  if (hasPostgres && !("missing" in found)) postgres = await startPostgres(found.folder);
}, 30_000);
afterAll(async () => {
  await postgres?.stop();
  await rm(folder, { recursive: true, force: true });
});

test("every release of this major version has a kept database", () => {
  expect(kept).toContain(packageFile.version);
});

test("what a release can write is still taken: tables and columns are only added", async () => {
  const fresh = await migrated(join(folder, "schema-fresh"));
  for (const version of kept) {
    const location = join(folder, `schema-${version}`);
    await restore(version, "sqlite", { ...RELEASE_ENVIRONMENT, GATEWAY_DATA_DIR: location });
    const before = columnsOf(location);
    const after = await migrated(location);
    // Fails after a migration was edited. Before 1.0.0, run test/releases/make.ts. Later, add a migration instead.
    expect(after, version).toEqual(fresh);
    for (const [name, column] of before) expect(after.get(name), `${version} ${name}`).toEqual(column);
    const tables = new Set([...before.keys()].map((name) => name.split(".")[0]));
    for (const [name, { isRequired }] of after)
      if (!before.has(name) && tables.has(name.split(".")[0])) expect(isRequired, name).toBe(false);
  }
}, 60_000);

describe.each(kept)("the database of %s", (version) => {
  for (const kind of ["sqlite", "postgres"])
    test.skipIf(kind === "postgres" && !hasPostgres)(
      `is opened, read, verified and charged: ${kind}`,
      async () => {
        const env = {
          ...RELEASE_ENVIRONMENT,
          GATEWAY_DATA_DIR: join(folder, `${kind}-${version}`),
          ...(kind === "postgres" && { DATABASE_URL: await postgres!.createDatabase() }),
        };
        await restore(version, kind, env);
        await using gateway = await startTestGateway({ env });
        const before = await gateway.ledger();
        expect(before.map((row) => row.kind).sort()).toEqual([
          "charge",
          "charge",
          "charge",
          "charge",
          "charge",
          "refund",
        ]);
        const chat = { model: "sandbox-chat", messages: [{ role: "user", content: "Hello" }] };
        const answered = await gateway.call("/v1/chat/completions", { body: chat });
        expect(answered.status).toBe(200);
        const [charge] = await gateway.charged(answered.headers.get("x-request-id")!);
        // The request must cost as much as in the old release.
        expect(before.map(({ amount }) => amount)).toContain(charge!.amount);
        expect(await gateway.cli("ledger", "verify")).toContain("no difference");
        expect(await gateway.cli("audit", "verify")).toContain("Head: ");
        expect(await gateway.cli("prices", "list")).toContain("shop");
        expect((await signIn(gateway)).cookie).not.toBe("");
      },
      60_000,
    );
});

/** Returns the columns of a database after this program has created or migrated it. */
async function migrated(location: string): Promise<Map<string, Column>> {
  await using gateway = await startTestGateway({
    env: { ...RELEASE_ENVIRONMENT, GATEWAY_DATA_DIR: location },
  });
  await gateway.stop();
  return columnsOf(location);
}

async function restore(version: string, kind: string, env: Record<string, string>): Promise<void> {
  const path = join(folder, `${kind}-${version}.tar`);
  await Bun.write(path, gunzipSync(await readFile(join(RELEASES, version, `${kind}.tar.gz`))));
  const { code, stderr } = await runCommand(["restore", path], { env, cwd: folder, ...MACHINE });
  expect({ code, stderr }).toMatchObject({ code: 0 });
}

interface Column {
  type: string;
  /** True when an INSERT must set the column. */
  isRequired: boolean;
}

function columnsOf(dataDirectory: string): Map<string, Column> {
  using database = new Database(join(dataDirectory, "gateway.sqlite"), { readonly: true });
  const rows = database
    .query<{ name: string; type: string; isRequired: number }, []>(
      `SELECT t.name || '.' || c.name AS name, c.type AS type, c."notnull" AND c.dflt_value IS NULL AS isRequired
       FROM sqlite_master t, pragma_table_info(t.name) c WHERE t.type = 'table'`,
    )
    .all();
  return new Map(rows.map(({ name, type, isRequired }) => [name, { type, isRequired: isRequired === 1 }]));
}
