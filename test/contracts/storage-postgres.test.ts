import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DependencyError } from "../../src/gateway/dependency-error.ts";
import { openDatabase } from "../../src/storage/index.ts";
import type { Database } from "../../src/storage/database/sql.ts";
import { findPostgres, startPostgres, type PrivatePostgres } from "../support/postgres.ts";
import { startSilentProxy } from "../support/silent-proxy.ts";

const found = findPostgres();
if ("missing" in found) console.warn(`SKIPPED: connections to PostgreSQL (${found.missing})`);

describe.skipIf("missing" in found)("connections to PostgreSQL", () => {
  let postgres: PrivatePostgres;
  beforeAll(async () => {
    if ("missing" in found) return;
    postgres = await startPostgres(found.folder);
  }, 30_000);
  afterAll(() => postgres?.stop());

  const sessionOf = (database: Database) =>
    database.read(async (sql) => (await sql<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`)[0]?.pid);

  test("those that went silent are replaced after one late call", async () => {
    const address = await postgres.createDatabase();
    using proxy = await startSilentProxy(address);
    const database = await openDatabase(proxy.through(address), { timeoutMs: 300, poolSize: 4 });
    await Promise.all(Array.from({ length: 4 }, () => database.read((sql) => sql`SELECT pg_sleep(0.05)`)));
    expect(proxy.live).toBe(4);
    proxy.silence();
    await expect(database.begin(async (sql) => void (await sql`SELECT 1`))).rejects.toThrow(DependencyError);
    for (let call = 0; call < 8; call += 1) expect(await sessionOf(database)).toBeGreaterThan(0);
    expect(proxy.live).toBeLessThanOrEqual(4);
    await database.close();
  });

  test("a call that is given up frees its locks", async () => {
    const database = await openDatabase(await postgres.createDatabase(), { timeoutMs: 5000 });
    await database.read((sql) => sql`CREATE TABLE counts (value BIGINT)`);
    await database.read((sql) => sql`INSERT INTO counts VALUES (1)`);
    const late = database.begin(async (sql) => {
      await sql`UPDATE counts SET value = 2`;
      await Bun.sleep(400);
      await sql`UPDATE counts SET value = 3`;
    }, 100);
    await expect(late).rejects.toThrow(DependencyError);
    const startedAt = performance.now();
    await database.begin(async (sql) => void (await sql`UPDATE counts SET value = value + 10`));
    expect(performance.now() - startedAt).toBeLessThan(250);
    const [row] = await database.read((sql) => sql<{ value: bigint }[]>`SELECT value FROM counts`);
    expect(row?.value).toBe(11n);
    await database.close();
  });

  test("there are never more than the pool's size", async () => {
    const address = await postgres.createDatabase();
    using proxy = await startSilentProxy(address);
    const database = await openDatabase(proxy.through(address), { poolSize: 3 });
    const calls = Array.from({ length: 40 }, () => database.read((sql) => sql`SELECT pg_sleep(0.01)`));
    await Promise.all(calls);
    expect(proxy.live).toBe(3);
    await database.close();
  });

  test("a healthy one is used again", async () => {
    const database = await openDatabase(await postgres.createDatabase(), { poolSize: 3 });
    const first = await sessionOf(database);
    await expect(database.read((sql) => sql`SELECT nonsense`)).rejects.toThrow("nonsense");
    expect(await sessionOf(database)).toBe(first!);
    await database.close();
  });

  test("sessions of a machine that vanished end within minutes", async () => {
    const database = await openDatabase(await postgres.createDatabase());
    const [row] = await database.read(
      (sql) => sql<{ idle: string }[]>`SELECT current_setting('tcp_keepalives_idle') AS idle`,
    );
    expect(row?.idle).toBe("60");
    await database.close();
  });

  test("only long queries are divided among workers of the server", async () => {
    const database = await openDatabase(await postgres.createDatabase());
    await database.begin((sql) =>
      sql.unsafe("CREATE TABLE numbers AS SELECT i, i % 7 AS rest FROM generate_series(1, 400000) AS i"),
    );
    const isDivided = async (query: string) => {
      const lines = await database.read((sql) => sql.unsafe<object[]>(`EXPLAIN ${query}`));
      return JSON.stringify(lines).includes("Workers Planned");
    };
    expect(await isDivided("SELECT rest, SUM(i) FROM numbers GROUP BY 1")).toBe(false);
    expect(await isDivided("SELECT COUNT(*) FROM numbers AS a JOIN numbers AS b ON a.i < b.i")).toBe(true);
    await database.close();
  });
});
