import type { Route } from "../../src/domain/channel.ts";
import type { PriceRow } from "../../src/domain/price.ts";
import type { Model } from "../../src/domain/model.ts";
import { PatternMap } from "../../src/lib/pattern-map.ts";
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DependencyError } from "../../src/gateway/dependency-error.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { openStorage, openStores } from "../../src/storage/index.ts";
import { adoptFolders, createFolder } from "../../src/storage/journal/journal-folder.ts";
import { openJournal } from "../../src/storage/journal/journal.ts";
import { keptSegments } from "../../src/storage/journal/kept-segments.ts";
import { WENT_BACK } from "../../src/storage/journal/lost-charges.ts";
import { openOwnJournal } from "../../src/storage/journal/own-journal.ts";
import { directWriter, type LedgerWriter } from "../../src/storage/journal/posting.ts";
import { RecordLines } from "../../src/storage/journal/record-line.ts";
import { createRecovery } from "../../src/storage/journal/recovery.ts";
import { listSegments, segmentPath } from "../../src/storage/journal/segments.ts";
import { startShipper } from "../../src/storage/journal/shipper.ts";
import { journalMarks } from "../../src/storage/tables/journal-marks.ts";
import { until } from "../support/gateway.ts";
import { aBudget, anEntry, BY, temporaryFolder } from "./storage-harness.ts";

const folder = temporaryFolder();

/** Opens a database and a folder of journals. `persisted` records the segments that existed at each persist. */
async function open(name: string) {
  mkdirSync(join(folder, name, "journals", "proc_a"), { recursive: true });
  const database = join(folder, name, "gateway.sqlite");
  const stores = await openStores(database);
  const root = join(folder, name, "journals");
  const journals = join(root, "proc_a");
  const persisted: number[][] = [];
  const problems: string[] = [];
  const onProblem = (message: string, _cause: unknown, level?: string) =>
    void (level !== "info" && problems.push(message));
  const marks = journalMarks(stores.database);
  await marks.set("proc_a", 0);
  const kept = keptSegments(root, "ledger");
  const refusedPath = join(root, "refused.log");
  const posting = {
    writer: directWriter({ ledger: stores.ledger, marks, refusedPath, onProblem }),
    marks,
    kept,
    onProblem,
    async persist() {
      persisted.push(listSegments(journals));
      await stores.database.persist();
    },
  };
  return { stores, root, journals, persisted, problems, posting };
}

test("a segment is deleted once its charges are on the database's disk", async () => {
  const { stores, journals, persisted, problems, posting } = await open("shipped");
  const shipper = startShipper({
    ...posting,
    folder: journals,
    processId: "proc_a",
    clock: systemClock,
    journal: () => journal,
  });
  const journal = openJournal({
    folder: journals,
    segmentBytes: 1_000,
    onProblem: posting.onProblem,
    onAppend: (...appended) => shipper.onAppend(...appended),
  });
  for (let index = 0; index < 20; index += 1)
    journal.append({ type: "charge", entry: anEntry(`shipped_${index}`, 1n) });
  const segments = listSegments(journals);
  expect(segments.length).toBeGreaterThan(3);
  expect(await shipper.flush(5_000)).toBe(true);
  await until("settled segments to be deleted", () => listSegments(journals).length === 1 || undefined);
  expect(persisted).toEqual([segments]);
  expect(problems).toEqual([]);
  await shipper.stop();
  await journal.close();
  await stores.database.close();
});

test("a journal that was taken over is removed once its charges are on the database's disk", async () => {
  const { stores, root, journals, persisted, problems, posting } = await open("recovered");
  const journal = openJournal({ folder: journals, onAppend: () => {}, onProblem: posting.onProblem });
  journal.append({ type: "charge", entry: anEntry("recovered", 7n, { budgets: ["budget"] }) });
  await journal.close();
  await stores.admin.budgets.create(aBudget("budget", 100n), BY);
  for (const [processId, wanted] of [
    ["proc_a", 40n],
    ["proc_b", 20n],
  ] as const)
    await stores.leases.take(processId, [{ budget: "budget", needed: 1n, wanted }]);
  const recovery = createRecovery({
    ...posting,
    leases: stores.leases,
    onEnded: async () => {},
    verifyDatabase: () => {},
    root,
    processId: "proc_b",
  });
  await recovery.run();
  expect(recovery.recovered()).toBe(1);
  expect(persisted).toEqual([[1]]);
  expect(existsSync(journals)).toBe(false);
  // The running process still holds 20 nano-units.
  expect(await stores.admin.budgets.get("budget")).toMatchObject({ spent: 7n, held: 20n });
  expect(problems).toEqual([]);
  await stores.database.close();
});

/** Creates a journal of `proc_a` with one charge, which `proc_b` is to recover. */
async function openLeft(name: string, charge: string) {
  const opened = await open(name);
  const { stores, root, journals, posting } = opened;
  const journal = openJournal({ folder: journals, onAppend: () => {}, onProblem: posting.onProblem });
  journal.append({ type: "charge", entry: anEntry(charge, 7n) });
  await journal.close();
  const recoveryBy = (writer = posting.writer) =>
    createRecovery({
      ...posting,
      writer,
      leases: stores.leases,
      onEnded: async () => {},
      verifyDatabase: () => {},
      root,
      processId: "proc_b",
    });
  /** Moves a segment to the kept segments, as if `batch` had posted it. */
  const keepPosted = (id: string, batch: number) => {
    const from = join(folder, name, "aside");
    mkdirSync(from);
    const lines = new RecordLines();
    lines.write({ type: "charge", entry: anEntry(id, 5n) });
    writeFileSync(segmentPath(from, 9), lines.bytes);
    posting.kept.keep(from, "proc_a", [9], batch);
  };
  return { ...opened, recoveryBy, keepPosted };
}

test("a journal whose charges could not be posted is taken over again", async () => {
  const { stores, posting, recoveryBy } = await openLeft("again", "again");
  const outage = { isOver: false };
  const post: LedgerWriter["post"] = async (...batch) => {
    if (!outage.isOver) throw new DependencyError("the database is away");
    return await posting.writer.post(...batch);
  };
  const recovery = recoveryBy({ post });
  await expect(recovery.run()).rejects.toBeInstanceOf(DependencyError);
  outage.isOver = true;
  await recovery.run();
  expect(await stores.ledger.find("again", "charge")).not.toBeNull();
  await stores.database.close();
});

test("a journal that cannot be taken over holds up no other", async () => {
  const { stores, root, problems, posting, recoveryBy } = await openLeft("several", "good");
  const folder = createFolder(root, "proc_0");
  const journal = openJournal({ folder: folder.path, onAppend: () => {}, onProblem: posting.onProblem });
  journal.append({ type: "charge", entry: anEntry("bad", 1n) });
  await journal.close();
  folder.release();
  const post: LedgerWriter["post"] = async (processId, ...batch) => {
    if (processId === "proc_0") throw new Error("a mistake");
    return await posting.writer.post(processId, ...batch);
  };
  const recovery = recoveryBy({ post });
  for (let run = 0; run < 2; run += 1) await recovery.run();
  expect(await stores.ledger.find("good", "charge")).not.toBeNull();
  expect(problems).toEqual(["the journal of proc_0 cannot be taken over; its charges wait"]);
  await recoveryBy().run();
  expect(await stores.ledger.find("bad", "charge")).not.toBeNull();
  await stores.database.close();
});

test("a database that went back before a process ended gets all of its journal, once", async () => {
  const { stores, problems, posting, recoveryBy, keepPosted } = await openLeft("back", "left");
  keepPosted("aside", 3);
  const recovery = recoveryBy();
  await recovery.run();
  await recovery.run();
  expect(await stores.ledger.find("left", "charge")).not.toBeNull();
  expect(await stores.ledger.find("aside", "charge")).not.toBeNull();
  expect(await posting.marks.read(["proc_a"])).toEqual(new Map([["proc_a", 4]]));
  expect([recovery.recovered(), recovery.restored(), problems]).toEqual([2, 2, [WENT_BACK]]);
  await stores.database.close();
});

test("what a running process holds and has posted is left to itself", async () => {
  const { stores, root, posting, recoveryBy, keepPosted } = await openLeft("running", "running");
  const { kept, marks } = posting;
  await stores.admin.budgets.create(aBudget("budget", 100n), BY);
  await stores.leases.take("proc_a", [{ budget: "budget", needed: 1n, wanted: 40n }]);
  keepPosted("aside", 3);
  const [owned] = adoptFolders(root, "proc_b", () => {});
  const recovery = recoveryBy();
  await recovery.run();
  expect([recovery.recovered(), recovery.restored()]).toEqual([0, 0]);
  expect(await stores.admin.budgets.get("budget")).toMatchObject({ held: 40n });
  await marks.set("proc_a", 3);
  for (const { path } of kept.list("proc_a")) utimesSync(path, 0, 0);
  await recovery.run();
  expect(kept.list("proc_a")).toEqual([]);
  expect(await marks.read(["proc_a"])).toEqual(new Map([["proc_a", 3]]));
  owned!.release();
  await stores.database.close();
});

test("a journal stays where its leases could not be returned at the end", async () => {
  const { stores, root, posting } = await open("unreturned");
  const release = () => Promise.reject(new DependencyError("the database is away"));
  const own = await openOwnJournal(root, "proc_own", { ...posting, leases: { ...stores.leases, release } });
  await own.close(5_000);
  expect(listSegments(join(root, "proc_own"))).toEqual([1]);
  await stores.database.close();
});

test("a process that stops returns its leases of budgets", async () => {
  const database = join(folder, "stopped.sqlite");
  const storage = await openStorage({
    database,
    journals: join(folder, "stopped"),
    processId: "proc_a",
    configured,
    onProblem: () => {},
  });
  await storage.admin.budgets.create(aBudget("budget", 100n), BY);
  await storage.leases.take("proc_a", [{ budget: "budget", needed: 1n, wanted: 40n }]);
  expect(await storage.admin.budgets.get("budget")).toMatchObject({ held: 40n });
  await storage.close(5_000);
  const stores = await openStores(database);
  expect(await stores.admin.budgets.get("budget")).toMatchObject({ held: 0n });
  await stores.database.close();
});

const configured = {
  models: new PatternMap<Model>(),
  channels: new Map(),
  routes: new PatternMap<Route>(),
  prices: new PatternMap<PriceRow>(),
};

/** Replaces a database by an old copy, made before `proc_late` started and ended. Returns a function that opens it. */
async function openOlderCopy(name: string) {
  const location = join(folder, `${name}.sqlite`);
  const journals = join(folder, name);
  const problems: string[] = [];
  const open = (processId: string) =>
    openStorage({
      database: location,
      journals,
      processId,
      configured,
      onProblem: (message) => problems.push(message),
    });
  const old = await open("proc_old");
  await old.admin.budgets.create(aBudget("budget", 100n), BY);
  await old.leases.take("proc_old", [{ budget: "budget", needed: 1n, wanted: 40n }]);
  old.journal.append({ type: "charge", entry: anEntry("before", 5n, { budgets: ["budget"] }) });
  await old.flush(5_000);
  await old.database.persist();
  const copy = join(folder, `${name}-copy.sqlite`);
  await old.database.read((sql) => sql.unsafe(`VACUUM INTO '${copy}'`));
  old.journal.append({ type: "charge", entry: anEntry("after", 7n, { budgets: ["budget"] }) });
  old.journal.append({ type: "checkpoint", entry: anEntry("ended", 1n, { budgets: ["budget"] }) });
  old.journal.append({ type: "charge", entry: anEntry("ended", 3n, { budgets: ["budget"] }) });
  await old.close(5_000);
  const late = await open("proc_late");
  late.journal.append({ type: "charge", entry: anEntry("late", 9n, { budgets: ["budget"] }) });
  await late.close(5_000);
  for (const suffix of ["", "-wal", "-shm"]) rmSync(`${location}${suffix}`, { force: true });
  renameSync(copy, location);
  return { location, journals, problems, open };
}

test("an older copy of the database gets what processes that have ended had posted since", async () => {
  const { journals, location, problems, open } = await openOlderCopy("older");
  const stores = await openStores(location, { journals });
  expect(await stores.admin.budgets.get("budget")).toMatchObject({ spent: 5n, held: 35n });
  const missing = (await stores.admin.ledger.verify()).differences.filter(({ check }) => check === "journal");
  expect(missing.map(({ subject, found }) => [subject, found])).toEqual([["late", null]]);
  await stores.database.close();
  const storage = await open("proc_new");
  expect(await storage.admin.budgets.get("budget")).toMatchObject({ spent: 24n, held: 0n });
  expect(await storage.ledger.find("ended", "charge")).toMatchObject({ amount: 3n, flags: [] });
  expect(storage.restored()).toBe(3);
  expect(problems).toContain(WENT_BACK);
  expect(await storage.admin.ledger.verify()).toMatchObject({ waiting: 0, differenceCount: 0 });
  problems.length = 0;
  await storage.close(5_000);
  await (await open("proc_newest")).close(5_000);
  expect(problems).not.toContain(WENT_BACK);
});

test("a journal's posted charges belong to one ledger, and are not posted to another", async () => {
  const { location, problems, open } = await openOlderCopy("other");
  for (const suffix of ["", "-wal", "-shm"]) rmSync(`${location}${suffix}`, { force: true });
  const storage = await open("proc_new");
  expect(await storage.ledger.find("late", "charge")).toBeNull();
  expect(problems).not.toContain(WENT_BACK);
  await storage.close(5_000);
});

test("posted segments are listed in the order in which they were written", () => {
  const root = join(folder, "ordered");
  const journal = join(root, "proc_a");
  mkdirSync(journal, { recursive: true });
  const kept = keptSegments(root, "ledger");
  for (const segment of [9, 10, 100]) {
    writeFileSync(segmentPath(journal, segment), "x");
    kept.keep(journal, "proc_a", [segment], segment);
  }
  expect(kept.list("proc_a").map(({ segment }) => segment)).toEqual([9, 10, 100]);
});

test("posted segments are kept for an hour, within their bytes, and not removed before the database has them", () => {
  const root = join(folder, "kept");
  const journal = join(root, "proc_a");
  mkdirSync(journal, { recursive: true });
  const kept = keptSegments(root, "ledger", 1_000);
  const keep = (segment: number, bytes: number, minutesAgo: number) => {
    writeFileSync(segmentPath(journal, segment), "x".repeat(bytes));
    // The file's own age does not count. The file is kept for the full time from now.
    utimesSync(segmentPath(journal, segment), 0, 0);
    kept.keep(journal, "proc_a", [segment], segment);
    expect(kept.list().find((found) => found.segment === segment)!.keptAt).toBeGreaterThan(
      Date.now() - 60_000,
    );
    const at = Date.now() / 1000 - minutesAgo * 60;
    utimesSync(kept.list().find((found) => found.segment === segment)!.path, at, at);
  };
  const left = () => kept.list("proc_a").map(({ segment }) => segment);
  keep(1, 10, 61);
  keep(2, 10, 59);
  expect(kept.sweep(() => false)).toEqual([]);
  expect(left()).toEqual([1, 2]);
  kept.sweep(() => true);
  expect(left()).toEqual([2]);
  keep(3, 600, 30);
  keep(4, 600, 1);
  kept.sweep(() => true);
  expect(left()).toEqual([4]);
  keep(4, 10, 61);
  expect(kept.sweep(() => true)).toEqual(["proc_a"]);
});
