import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DependencyError } from "../../gateway/dependency-error.ts";
import { openSqliteClient } from "./sqlite-client.ts";

const folder = mkdtempSync(join(tmpdir(), "sqlite-client-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const path = join(folder, "one.sqlite");
writeFileSync(path, "");
const client = openSqliteClient(path);
const { sql } = client;
const never = new AbortController().signal;

test("rows, changes and lists are composed of parts, and an absent value is NULL", async () => {
  await sql`CREATE TABLE things (id TEXT PRIMARY KEY, size BIGINT, note TEXT)`;
  await sql`INSERT INTO things ${sql({ id: "a", size: 9_000_000_000_000_000, note: undefined })}`;
  await sql`INSERT INTO things ${sql([
    { id: "b", size: 2n },
    { id: "c", size: null },
  ])}`;
  await sql`UPDATE things SET ${sql({ size: 3, note: "new" })} WHERE id = ${"b"}`;
  const isListed = sql`id IN ${sql(["a", "b"])}`;
  expect(
    await sql<object[]>`SELECT * FROM ${sql.unsafe("things")} WHERE ${isListed} AND size > ${1}`,
  ).toEqual([
    { id: "a", size: 9_000_000_000_000_000n, note: null },
    { id: "b", size: 3n, note: "new" },
  ]);
  expect(await sql<object[]>`SELECT id FROM things WHERE id IN ${sql([])}`).toEqual([]);
});

test("a value that no column takes is refused, wherever it stands", async () => {
  for (const value of [{ id: "a" }, ["a"], new Date()])
    expect(async () => await sql`SELECT ${value} AS one`).toThrow(TypeError);
});

test("a statement that is kept sees a column that was added since", async () => {
  const read = async () => await sql<object[]>`SELECT * FROM things WHERE id = ${"b"}`;
  await read();
  await sql.unsafe("ALTER TABLE things ADD COLUMN mark BIGINT; UPDATE things SET mark = 1");
  expect(await read()).toEqual([{ id: "b", size: 3n, note: "new", mark: 1n }]);
});

test("more different statements than are kept work, the first ones too", async () => {
  for (let round = 0; round < 2; round += 1)
    for (let index = 0; index < 500; index += 1) {
      const rows = await sql.unsafe(`SELECT ${index} AS one`);
      expect(rows).toEqual([{ one: BigInt(index) }]);
    }
});

test("large values are not kept with their statements", async () => {
  const residentMb = () => process.memoryUsage.rss() / 2 ** 20;
  const before = residentMb();
  for (let index = 0; index < 12; index += 1)
    await sql.unsafe(`SELECT length(?) + ${index}`, [`${index}`.repeat(16 * 2 ** 20)]);
  for (let attempt = 0; residentMb() > before + 96 && attempt < 80; attempt += 1) {
    Bun.gc(true);
    await Bun.sleep(50);
  }
  expect(residentMb()).toBeLessThan(before + 96);
});

test("a transaction that fails, or whose caller is gone, changes nothing and leaves the connection usable", async () => {
  const gone = new AbortController();
  const remove = async () => {
    await sql`DELETE FROM things`;
    gone.abort(new Error("gone"));
  };
  await expect(client.transact("IMMEDIATE", remove, gone.signal)).rejects.toThrow("gone");
  const fail = () => sql`INSERT INTO things ${sql([{ id: "d" }, { id: "a" }])}`;
  await expect(client.transact("IMMEDIATE", fail, never)).rejects.toMatchObject({
    code: "SQLITE_CONSTRAINT_PRIMARYKEY",
  });
  expect(await client.transact("IMMEDIATE", () => sql`SELECT COUNT(*) AS count FROM things`, never)).toEqual([
    { count: 3n },
  ]);
});

test("a closed connection is a dependency that is gone", () => {
  client.close();
  client.close();
  expect(async () => await sql`SELECT 1`).toThrow(DependencyError);
});
