import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pack } from "tar-stream";
import { openStores } from "../tables/stores.ts";
import { migrate, MIGRATIONS } from "../database/migrate.ts";
import { openDatabase } from "../database/open.ts";
import { listFiles, packFolder, unpackFolder } from "./archive.ts";
import { makeBackup, type Installation } from "./backup.ts";
import { addJournals } from "./journals.ts";
import { MANIFEST, writeManifest, type BackupManifest } from "./manifest.ts";
import { restoreBackup } from "./restore.ts";
import { verifySqlite } from "./sqlite-backup.ts";

/** Number of migrations of a database that lacks the newest migration. */
const EARLY = MIGRATIONS.length - 1;

let folder: string;
const at = (name: string): string => join(folder, name);
const write = (name: string, text: string): void => {
  mkdirSync(dirname(at(name)), { recursive: true });
  writeFileSync(at(name), text);
};
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gateway-backup-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("a backup has what is in journals before and after the database is copied", async () => {
  const database = at("gateway.sqlite");
  await (await openStores(database)).database.close();
  write("journal/proc_a/00000001.log", "");
  write("journal/proc_a/lock", "");
  write("journal/refused.log", "");
  write("journal/quarantine/proc_b/copy of 7~.log", "");
  const steps: string[] = [];
  const installation = { database, journals: at("journal"), async *pictures() {}, masterKeys: [] };
  await makeBackup(installation, at("one.tar"), (step, done) => {
    if (done !== undefined) return;
    steps.push(step);
    if (step !== "Copying the database.") return;
    rmSync(at("journal/proc_a"), { recursive: true });
    write("journal/proc_c/00000001.log", "");
  });
  expect(steps[0]).toBe("Copying the database.");
  await unpackFolder(at("one.tar"), at("unpacked"));
  expect(await listFiles(at("unpacked"))).toEqual([
    "database.sqlite",
    "journal/proc_a/00000001.log",
    "journal/proc_c/00000001.log",
    "journal/quarantine/proc_b/copy of 7~.log",
    "journal/refused.log",
    "manifest.json",
    "pictures.jsonl",
  ]);
  expect(existsSync(at("one.tar.partial"))).toBe(false);
});

test("a database of an earlier version is not backed up", async () => {
  const early = await openDatabase(at("early.sqlite"));
  await migrate(early, MIGRATIONS.slice(0, EARLY));
  await early.close();
  const installation = {
    database: at("early.sqlite"),
    journals: at("journal"),
    async *pictures() {},
    masterKeys: [],
  };
  await expect(makeBackup(installation, at("early.tar"), () => {})).rejects.toThrow(
    `the database is at version ${EARLY} and this program at ${MIGRATIONS.length}: back it up with the program`,
  );
  expect(existsSync(at("early.tar"))).toBe(false);
});

describe("a restore", () => {
  const installation = (name: string): Installation => ({
    database: at(`${name}/gateway.sqlite`),
    journals: at(`${name}/journal`),
    async *pictures() {},
    masterKeys: [],
  });
  const options = { isForced: false, onProgress: () => {} };
  beforeEach(async () => {
    write("here/journal/proc_a/00000001.log", "");
    await (await openStores(at("here/gateway.sqlite"))).database.close();
    await makeBackup(installation("here"), at("one.tar"), () => {});
    await unpackFolder(at("one.tar"), at("unpacked"));
  });

  test("brings a database of an earlier version to this one", async () => {
    rmSync(at("unpacked/database.sqlite"));
    const early = await openDatabase(at("unpacked/database.sqlite"));
    await migrate(early, MIGRATIONS.slice(0, EARLY));
    await early.close();
    const manifest = JSON.parse(readFileSync(at("unpacked/manifest.json"), "utf8"));
    rmSync(at("unpacked/manifest.json"));
    await writeManifest(at("unpacked"), { ...manifest, migrations: EARLY });
    await packFolder(at("unpacked"), at("early.tar"), [MANIFEST]);
    const { database, journals } = installation("there");
    await restoreBackup(installation("there"), at("early.tar"), options);
    expect(await verifySqlite(String(database), journals)).toMatchObject({ migrations: MIGRATIONS.length });
    expect(await listFiles(at("there"))).toEqual(["gateway.sqlite", "journal/proc_a/00000001.log"]);
  });

  test("puts the database and the journals in place", async () => {
    await restoreBackup(installation("there"), at("one.tar"), options);
    expect(await listFiles(at("there"))).toEqual(["gateway.sqlite", "journal/proc_a/00000001.log"]);
  });

  const edited = (change: Partial<BackupManifest>) => () => {
    const manifest = JSON.parse(readFileSync(at("unpacked/manifest.json"), "utf8"));
    write("unpacked/manifest.json", JSON.stringify({ ...manifest, ...change }));
  };

  test.each([
    ["with entries missing in its ledger", edited({ ledgerEntries: 1 }), "0 entries of 1"],
    ["of a newer version", edited({ migrations: MIGRATIONS.length + 1 }), "newer than this program"],
    ["without one of its files", () => rmSync(at("unpacked/pictures.jsonl")), "damaged: pictures.jsonl"],
    ["with a file too many", () => write("unpacked/journal/more", ""), "damaged: journal/more"],
  ])("refuses a backup %s", async (_, change, problem) => {
    change();
    await packFolder(at("unpacked"), at("changed.tar"), [MANIFEST]);
    const restored = restoreBackup(installation("there"), at("changed.tar"), options);
    await expect(restored).rejects.toThrow(problem);
    expect(existsSync(at("there/gateway.sqlite"))).toBe(false);
  });
});

test.each(["../outside", "/outside", "journal/../../outside"])("a file %s is not unpacked", async (name) => {
  const archive = pack();
  archive.entry({ name }, "text");
  archive.finalize();
  write("hostile.tar", "");
  await Bun.write(
    at("hostile.tar"),
    Buffer.concat(await Array.fromAsync(archive as AsyncIterable<Uint8Array>)),
  );
  await expect(unpackFolder(at("hostile.tar"), at("inner/unpacked"))).rejects.toThrow("no whole backup");
  expect(existsSync(at("outside")) || existsSync(at("inner/outside"))).toBe(false);
});

test("of two states of a journal the longer one stays", () => {
  write("from/proc_a/00000001.log", "one");
  write("from/proc_a/00000002.log", "one\ntwo");
  write("to/proc_a/00000001.log", "one\ntwo");
  write("to/proc_a/00000002.log", "one");
  addJournals(at("from"), at("to"));
  const texts = ["00000001.log", "00000002.log"].map((name) => readFileSync(at(`to/proc_a/${name}`), "utf8"));
  expect(texts).toEqual(["one\ntwo", "one\ntwo"]);
});
