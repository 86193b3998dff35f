import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { SQL } from "bun";
import { DependencyError } from "../../src/gateway/dependency-error.ts";
import { dumpPostgres } from "../../src/storage/backup/postgres-backup.ts";
import { MIGRATIONS } from "../../src/storage/database/migrate.ts";
import { migrate, openDatabase } from "../../src/storage/index.ts";
import type { Database } from "../../src/storage/database/sql.ts";
import { makeSelfSigned, type SelfSigned } from "../support/certificate.ts";
import { MACHINE, runCommand } from "../support/command-line.ts";
import { freePort } from "../support/free-port.ts";
import { startTestGateway, until } from "../support/gateway.ts";
import { findPgBouncer, startPgBouncer } from "../support/pgbouncer.ts";
import { findPostgres, startPostgres, type PrivatePostgres } from "../support/postgres.ts";
import { temporaryFolder } from "./storage-harness.ts";

/*
 * Options of PostgreSQL addresses, tested with real servers: encryption, a pooler, several servers. Only known names of
 * this machine count as this machine, so `localhost.` with a final dot counts as another machine.
 */
const found = findPostgres();
if ("missing" in found) console.warn(`SKIPPED: addresses of PostgreSQL (${found.missing})`);
const folder = "folder" in found ? found.folder : "";
const pooler = findPgBouncer();
if ("missing" in pooler) console.warn(`SKIPPED: PgBouncer (${pooler.missing})`);

describe.skipIf("missing" in found)("the address of PostgreSQL", () => {
  let tls: SelfSigned;
  let postgres: PrivatePostgres;
  let address: string;
  beforeAll(async () => {
    tls = makeSelfSigned();
    postgres = await startPostgres(folder, { tls });
    address = await postgres.createDatabase();
  }, 30_000);
  afterAll(async () => {
    await postgres?.stop();
    tls?.[Symbol.dispose]();
  });
  const at = (host: string, query = "") => address.replace("127.0.0.1", host) + query;

  test.each([
    ["127.0.0.1", "", "plain"],
    ["localhost", "?sslmode=prefer", "plain"],
    ["localhost", "?sslmode=disable", "plain"],
    ["localhost", "?sslmode=no-verify", "encrypted"],
    ["localhost", "?sslmode=require", "refused"],
    ["localhost", "?sslmode=verify-ca", "refused"],
    ["localhost", "?sslmode=verify-full", "refused"],
    ["localhost.", "", "refused"],
    ["localhost.", "?sslmode=prefer", "refused"],
    ["localhost.", "?sslmode=require", "refused"],
    ["localhost.", "?sslmode=no-verify", "encrypted"],
    ["localhost.", "?sslmode=disable", "plain"],
  ])("a server that nobody vouches for at %s%s: %s", async (host, query, outcome) => {
    expect(await outcomeOf(at(host, query))).toBe(outcome as Outcome);
  });

  test.each([
    ["localhost", "?sslmode=verify-full", "encrypted"],
    ["localhost.", "", "encrypted"],
    ["127.0.0.1", "?sslmode=verify-full", "refused"],
    ["127.0.0.1", "?sslmode=verify-ca", "encrypted"],
  ])("a server with a trusted certificate for localhost at %s%s: %s", async (host, query, outcome) => {
    expect(await outcomeOf(at(host, `${query || "?"}&sslrootcert=${tls.path}`))).toBe(outcome as Outcome);
  });

  const output = temporaryFolder();
  test.each([
    [
      "localhost",
      "?sslmode=verify-full",
      "self signed",
      /NODE_EXTRA_CA_CERTS, or by sslrootcert .* sslmode=no-verify/,
    ],
    [
      "localhost",
      "?sslmode=verify-ca&sslrootcert=/none/ca.pem",
      "caFile",
      /sslrootcert names \/none\/ca\.pem/,
    ],
    ["127.0.0.1", "?sslmode=verify-full&sslrootcert=", "altnames", /sslmode=verify-ca/],
  ])("a command that cannot connect to %s%s says what to set", async (host, query, cause, advice) => {
    const DATABASE_URL = at(host, query.endsWith("=") ? query + tls.path : query);
    const env = { DATABASE_URL, GATEWAY_DATA_DIR: output };
    const { code, stderr } = await runCommand(["keys", "list"], { ...MACHINE, env, cwd: output });
    expect([code, stderr]).toEqual([1, expect.stringMatching(advice)]);
    expect(stderr).toContain(cause);
  });

  test("the gateway serves over TLS with a certificate authority of its own, after a server that is away", async () => {
    const hosts = `localhost.:${freePort()},localhost.:${postgres.port}`;
    await using _gateway = await startTestGateway({
      env: {
        DATABASE_URL: `postgres://postgres@${hosts}/gateway_1?target_session_attrs=read-write`,
        NODE_EXTRA_CA_CERTS: tls.path,
      },
    });
    const sql = new SQL(address, { max: 1 });
    const sessions = await sql<
      { ssl: boolean }[]
    >`SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
      WHERE application_name = 'model-inference-gateway'`;
    await sql.close();
    expect(new Set(sessions.map(({ ssl }) => ssl))).toEqual(new Set([true]));
  }, 30_000);

  test.each(["require", "verify-full", "verify-ca"])(
    "is dumped over TLS from the second of two hosts under sslmode=%s",
    async (mode) => {
      const host = mode === "verify-ca" ? "127.0.0.1" : "localhost";
      const hosts = `${host}:${freePort()},${host}`;
      const location = `${at(hosts)}?sslmode=${mode}&prepare=false&sslrootcert=${tls.path}`;
      const database = await openDatabase(location);
      await migrate(database);
      await database.close();
      const { PATH } = process.env;
      const server = { location, environment: { PATH } };
      const facts = await dumpPostgres(server, join(output, `${mode}.dump`), {
        copyJournals: () => join(output, "journal"),
        onProgress: () => {},
      });
      expect(facts).toMatchObject({ entries: 0, migrations: MIGRATIONS.length });
    },
  );

  const SETTINGS = [
    "statement_timeout",
    "lock_timeout",
    "idle_in_transaction_session_timeout",
    "synchronous_commit",
    "jit",
    "parallel_setup_cost",
  ];
  const KEEPALIVES = ["tcp_keepalives_idle", "tcp_keepalives_interval", "tcp_keepalives_count"];
  test.skipIf("missing" in pooler).each([
    ["refuses", []],
    ["drops", [`ignore_startup_parameters=${[...SETTINGS, ...KEEPALIVES].join(",")}`]],
  ] as const)("through a pooler that %s settings of sessions, transactions have them", async (_, lines) => {
    await using between = await startPgBouncer("binary" in pooler ? pooler.binary : "", postgres.port, lines);
    const database = await openDatabase(between.through(address), { timeoutMs: 2_000 });
    const settings = (call: Database["read"]) =>
      call(async (sql) => {
        const [row] = await sql<Record<string, string>[]>`SELECT
          current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock,
          current_setting('idle_in_transaction_session_timeout') AS idle,
          current_setting('synchronous_commit') AS commit`;
        return { ...row };
      });
    const wanted = { statement: "2s", lock: "2s", idle: "4s", commit: "on" };
    expect(await settings(database.begin)).toEqual(wanted);
    expect(await settings(database.read)).toEqual(wanted);
    expect(await settings(database.readConsistently)).toEqual({ ...wanted, statement: "0", idle: "0" });
    expect(await database.listen("jobs", () => {})).toBeNull();
    const calls = Array.from({ length: 60 }, (_, index) =>
      database.begin(async (sql) => {
        const [row] = await sql<{ index: bigint }[]>`SELECT CAST(${index} AS BIGINT) AS index`;
        return row?.index;
      }),
    );
    expect(await Promise.all(calls)).toEqual(Array.from({ length: 60 }, (_, index) => BigInt(index)));
    await database.close();
    const other = new SQL(between.through(address), { max: 1, prepare: false });
    expect((await other`SELECT current_setting('statement_timeout') AS statement`)[0].statement).toBe("0");
    await other.close();
  });

  test("of several servers the one that writes is used, also after it has changed", async () => {
    const primary = await startPostgres(folder);
    const database = await primary.createDatabase();
    const standby = await startPostgres(folder, { primary });
    const hosts = [freePort(), standby.port, primary.port].map((port) => `127.0.0.1:${port}`).join(",");
    const handle = await openDatabase(database.replace(/127\.0\.0\.1:\d+/, hosts), { poolSize: 3 });
    const portOf = async (sql: Parameters<Parameters<Database["begin"]>[0]>[0]) =>
      (await sql<{ port: number }[]>`SELECT inet_server_port() AS port`)[0]?.port;
    await handle.begin((sql) => sql`CREATE TABLE counts (value BIGINT)`);
    const ports = await Promise.all(Array.from({ length: 9 }, () => handle.read(portOf)));
    expect(new Set(ports)).toEqual(new Set([primary.port]));
    await until("the copy", async () => {
      const copy = await openDatabase(`postgres://postgres@127.0.0.1:${standby.port}/gateway_1`);
      const hasTable = await copy
        .read((sql) => sql`SELECT * FROM counts`)
        .then(
          () => true as const,
          () => undefined,
        );
      await copy.close();
      return hasTable;
    });
    await primary.crash();
    await expect(handle.begin(portOf)).rejects.toThrow(DependencyError);
    await expect(handle.begin(portOf)).rejects.toThrow(DependencyError);
    await standby.promote();
    expect(await handle.begin(portOf)).toBe(standby.port);
    await handle.begin((sql) => sql`INSERT INTO counts VALUES (1)`);
    await handle.close();
    await Promise.all([primary.stop(), standby.stop()]);
  }, 30_000);
});

type Outcome = "refused" | "encrypted" | "plain";

/** Returns the result of connecting: refused because of the certificate, encrypted, or unencrypted. */
async function outcomeOf(address: string): Promise<Outcome> {
  const database = await openDatabase(address);
  try {
    const [row] = await database.read(
      (sql) => sql<{ ssl: boolean }[]>`SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()`,
    );
    return row?.ssl ? "encrypted" : "plain";
  } catch (error) {
    if (!(error instanceof DependencyError) || !/certificate|altnames/.test(String(error.cause))) throw error;
    return "refused";
  } finally {
    await database.close();
  }
}
