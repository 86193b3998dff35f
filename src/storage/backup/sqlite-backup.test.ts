import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStores } from "../tables/stores.ts";
import { replaceSqlite, verifySqlite } from "./sqlite-backup.ts";

const PAGE_BYTES = 4096;

test("a copy with an index that lacks a row is refused", async () => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-copy-"));
  try {
    const path = join(folder, "copy.sqlite");
    const { database } = await openStores(path);
    await database.begin((sql) => sql`INSERT INTO processes (id, alive_at) VALUES (${"one"}, ${1})`);
    await database.close();
    expect(await verifySqlite(path, folder)).toMatchObject({ entries: 0 });
    emptyIndex(path, "processes");
    await expect(verifySqlite(path, folder)).rejects.toThrow("the copy of the database is damaged: ");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a database that is replaced takes with it what SQLite has put beside it", () => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-replaced-"));
  try {
    const at = (name: string) => join(folder, name);
    for (const name of ["copy", "old", "old-wal", "old-shm"]) writeFileSync(at(name), name);
    const kept = replaceSqlite(at("copy"), at("old"), new Date());
    const textsBeside = (path: string) => ["", "-wal", "-shm"].map((suffix) => textOf(`${path}${suffix}`));
    expect(textsBeside(at("old"))).toEqual(["copy", null, null]);
    expect(textsBeside(kept!)).toEqual(["old", "old-wal", "old-shm"]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

function textOf(path: string): string | null {
  return existsSync(path) ? readFileSync(path, "utf8") : null;
}

/** Replaces the only page of a table's primary key by an empty leaf (sqlite.org, "Database File Format", 1.6). */
function emptyIndex(path: string, table: string): void {
  using database = new Database(path);
  const query = database.query<{ rootpage: number }, [string]>(
    "SELECT rootpage FROM sqlite_schema WHERE type = 'index' AND tbl_name = ?",
  );
  const page = query.get(table)!.rootpage - 1;
  database.close();
  const file = openSync(path, "r+");
  writeSync(file, Uint8Array.of(0x0a, 0, 0, 0, 0, PAGE_BYTES >> 8, 0, 0), 0, 8, page * PAGE_BYTES);
  closeSync(file);
}
