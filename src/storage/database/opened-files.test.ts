import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openedFiles } from "./opened-files.ts";

test("a file that replaces a database is read without the WAL of the old one, which is kept aside", async () => {
  const folder = await mkdtemp(join(tmpdir(), "opened-files-"));
  const [location, copy] = [join(folder, "one.sqlite"), join(folder, "copy.sqlite")];
  using database = new Database(location);
  database.run("PRAGMA journal_mode = WAL");
  database.run("CREATE TABLE words (word TEXT)");
  database.run("INSERT INTO words VALUES ('copied')");
  database.run("VACUUM INTO ?", [copy]);
  database.run("INSERT INTO words VALUES ('later')");
  const files = openedFiles(location);
  expect(files.replaced()).toBeNull();
  files.separateWal();
  expect(await readdir(folder)).toContain("one.sqlite-wal");
  await rename(copy, location);
  expect(files.replaced()).toBe("one.sqlite was removed or replaced");
  files.separateWal();
  using replacing = new Database(location, { readonly: true });
  expect(replacing.query("SELECT word FROM words").all()).toEqual([{ word: "copied" }]);
  expect(await readdir(folder)).toContainEqual(expect.stringMatching(/^one\.sqlite\.replaced-\d+T\d+Z-wal$/));
  await rm(folder, { recursive: true });
});
