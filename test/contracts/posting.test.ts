import { beforeAll, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { LedgerEntry } from "../../src/domain/ledger.ts";
import { DependencyError } from "../../src/gateway/dependency-error.ts";
import { migrate, openDatabase, type Database } from "../../src/storage/index.ts";
import { journalMarks } from "../../src/storage/tables/journal-marks.ts";
import { ledgerStore } from "../../src/storage/tables/ledger.ts";
import { directWriter, postEntries } from "../../src/storage/journal/posting.ts";
import { RecordLines } from "../../src/storage/journal/record-line.ts";
import { anEntry, onEachDatabase, temporaryFolder } from "./storage-harness.ts";

function linesOf(entry: LedgerEntry): RecordLines {
  const lines = new RecordLines();
  lines.write({ type: "charge", entry });
  return lines;
}

onEachDatabase("Posting", (databases) => {
  const folder = temporaryFolder();
  let database: string;
  beforeAll(async () => {
    database = await databases.location();
    await migrate(await databases.open(database));
  });
  const postingOn = (database: Database, name: string) => ({
    ledger: ledgerStore(database),
    refusedPath: join(folder, `${name}.refused`),
    onProblem: () => {},
  });

  test("only entries that the database refuses for their data are put aside", async () => {
    const posting = postingOn(await databases.open(database), "wrong");
    const good = anEntry("beside_wrong", 1n);
    await postEntries(posting, "proc_wrong", [good, anEntry("wrong", 2n ** 70n)]);
    const aside = readFileSync(posting.refusedPath, "utf8").trim().split("\n");
    expect(aside.map((line) => JSON.parse(line).id)).toEqual(["wrong"]);
    expect(await posting.ledger.find(good.id, "charge")).not.toBeNull();
    const closing = {
      ...posting,
      ledger: { ...posting.ledger, post: () => Promise.reject(new Error("closed")) },
    };
    await expect(postEntries(closing, "proc_wrong", [good, good])).rejects.toThrow("closed");
    expect(readFileSync(posting.refusedPath, "utf8").trim().split("\n")).toHaveLength(1);
  });

  test("the batch of a journal is noted once it is posted", async () => {
    const opened = await databases.open(database);
    const marks = journalMarks(opened);
    const posting = { ...postingOn(opened, "noted"), marks };
    const { bytes } = linesOf(anEntry("noted", 1n));
    await marks.set("proc_noted", 0);
    expect(await directWriter(posting).post("proc_noted", bytes, 1)).toBe(1);
    expect(await marks.read(["proc_noted"])).toEqual(new Map([["proc_noted", 1]]));
    const refusing = { ...posting, ledger: { post: () => Promise.reject(new Error("closed")) } };
    await expect(directWriter(refusing).post("proc_noted", bytes, 2)).rejects.toThrow("closed");
    expect(await marks.read(["proc_noted"])).toEqual(new Map([["proc_noted", 1]]));
  });

  test("a batch is noted only behind the one before it", async () => {
    const marks = journalMarks(await databases.open(database));
    const noted = async () => (await marks.read(["proc_marks"])).get("proc_marks");
    await marks.raise("proc_marks", 1);
    expect(await noted()).toBeUndefined();
    await marks.set("proc_marks", 0);
    for (const batch of [1, 1, 2]) await marks.raise("proc_marks", batch);
    expect(await noted()).toBe(2);
    await marks.raise("proc_marks", 4);
    expect(await noted()).toBe(2);
    await marks.remove(["proc_marks"]);
    expect(await noted()).toBeUndefined();
  });

  test("a copy from before its ledger had an id is given the id of the ledger", async () => {
    const opened = await databases.open(database);
    const ledger = await journalMarks(opened).ledgerId();
    expect(await journalMarks(opened).ledgerId()).toBe(ledger);
    const [made] = await opened.read(
      (sql) =>
        sql<{ applied_at: bigint | number }[]>`SELECT applied_at FROM schema_migrations WHERE version = 1`,
    );
    const copy = await databases.open(await databases.location());
    await migrate(copy);
    await copy.begin(
      (sql) => sql`UPDATE schema_migrations SET applied_at = ${Number(made!.applied_at)} WHERE version = 1`,
    );
    expect(await journalMarks(copy).ledgerId()).toBe(ledger);
    const other = await databases.open(await databases.location());
    await migrate(other);
    expect(await journalMarks(other).ledgerId()).not.toBe(ledger);
  });

  if (databases.kind === "sqlite") return;

  test("charges wait while the server only reads", async () => {
    const name = new URL(database).pathname.slice(1);
    const other = await databases.open(await databases.location());
    const setReadOnly = (value: string) =>
      other.read((sql) =>
        sql.unsafe(`ALTER DATABASE "${name}" SET default_transaction_read_only = ${value}`),
      );
    await setReadOnly("on");
    const reading = await openDatabase(database);
    const entries = [anEntry("read_1", 1n), anEntry("read_2", 1n)];
    const posting = postEntries(postingOn(reading, "reading"), "proc_reading", entries);
    await expect(posting).rejects.toThrow(DependencyError);
    await reading.close();
    await setReadOnly("off");
    expect(existsSync(join(folder, "reading.refused"))).toBe(false);
  });
});
