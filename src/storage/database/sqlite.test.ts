import { expect, test } from "bun:test";
import { copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "./open.ts";

test.each([
  [
    "SQLITE_NOTADB",
    (path: string) => writeFileSync(path, "x".repeat(8192)),
    "it is damaged; stop the gateway and put a backup in its place by npm start -- restore FILE --force, which keeps the journals",
  ],
  [
    "SQLITE_CANTOPEN",
    (path: string) => mkdirSync(path),
    "let this user write it and its folder, or set GATEWAY_DATA_DIR to another folder",
  ],
])("a file that cannot be opened (%s) is named, with what to do", async (code, make, advice) => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-sqlite-"));
  const path = join(folder, "gateway.sqlite");
  make(path);
  try {
    const message = `the database ${path} cannot be opened (${code})`;
    expect(await openDatabase(path).catch((error: unknown) => error)).toMatchObject({ message, advice });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a file that was replaced takes no write until it is back, and its rows can be read", async () => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-sqlite-"));
  const path = join(folder, "gateway.sqlite");
  const database = await openDatabase(path);
  try {
    await database.begin((sql) => sql`CREATE TABLE numbers (value INTEGER PRIMARY KEY)`);
    const writes = [
      (value: number) => database.begin((sql) => sql`INSERT INTO numbers (value) VALUES (${value})`),
      (value: number) => database.insertRows("numbers", [{ value: value + 10 }]),
      () => database.persist(),
    ];
    copyFileSync(path, join(folder, "copy"));
    renameSync(path, join(folder, "opened"));
    renameSync(join(folder, "copy"), path);
    for (const write of writes)
      await expect(Promise.resolve(write(1))).rejects.toThrow(
        "the database was lost: gateway.sqlite was removed or replaced",
      );
    expect(await database.read((sql) => sql<unknown[]>`SELECT value FROM numbers`)).toEqual([]);
    renameSync(join(folder, "opened"), path);
    for (const write of writes) await write(2);
    const rows = await database.read((sql) => sql<{ value: unknown }[]>`SELECT value FROM numbers`);
    expect(rows.map(({ value }) => Number(value))).toEqual([2, 12]);
  } finally {
    await database.close();
    rmSync(folder, { recursive: true });
  }
});
