import type { Route } from "../../src/domain/channel.ts";
import type { PriceRow } from "../../src/domain/price.ts";
import type { Model } from "../../src/domain/model.ts";
import { PatternMap } from "../../src/lib/pattern-map.ts";
import { beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DependencyError } from "../../src/gateway/dependency-error.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { openStorage, openStores, type Storage } from "../../src/storage/index.ts";
import { adoptFolders } from "../../src/storage/journal/journal-folder.ts";
import { openJournal } from "../../src/storage/journal/journal.ts";
import type { LedgerStore } from "../../src/storage/tables/ledger.ts";
import { directWriter } from "../../src/storage/journal/posting.ts";
import { KEPT, keptSegments } from "../../src/storage/journal/kept-segments.ts";
import { listSegments, replay, segmentFiles } from "../../src/storage/journal/segments.ts";
import { startShipper } from "../../src/storage/journal/shipper.ts";
import { journalMarks } from "../../src/storage/tables/journal-marks.ts";
import { until } from "../support/gateway.ts";
import { aBudget, anEntry, BY, onEachDatabase, temporaryFolder } from "./storage-harness.ts";

const KILLS = 4;
const configured = {
  models: new PatternMap<Model>(),
  channels: new Map(),
  routes: new PatternMap<Route>(),
  prices: new PatternMap<PriceRow>(),
};

onEachDatabase("The journal", (databases) => {
  const folder = temporaryFolder();
  let database: string;
  beforeAll(async () => {
    database = await databases.location();
  });
  const open = (processId: string, journals: string, problems: string[] = []): Promise<Storage> =>
    openStorage({
      database,
      journals,
      processId,
      configured,
      onProblem: (message) => problems.push(message),
    });

  test(`${KILLS} kills lose no acknowledged record and book none twice`, async () => {
    const journals = join(folder, "killed");
    const stores = await openStores(database);
    await stores.admin.budgets.create(aBudget("budget_kill", 1_000_000_000n), BY);
    await stores.database.close();
    const acknowledged = new Map<string, string>();
    const seed = Date.now() % 100_000;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const backoffMs = 20 + ((seed + kill * 7919) % 120);
      for (const [id, type] of await writeUntilKilled(database, journals, backoffMs))
        acknowledged.set(id, type);
    }
    const storage = await open("proc_last", journals);
    const missing: string[] = [];
    const wrong: string[] = [];
    for (const [id, type] of acknowledged) {
      const entry = await storage.ledger.find(id, "charge");
      if (!entry) missing.push(id);
      else if (type === "charge" && entry.amount !== 3n) wrong.push(id);
    }
    const spent = (await storage.admin.budgets.get("budget_kill"))!.spent;
    console.log(
      `${KILLS} kills (seed ${seed}): ${acknowledged.size} acknowledged, ${missing.length} missing, ` +
        `${wrong.length} wrong, booked ${spent} (${databases.kind})`,
    );
    expect(acknowledged.size).toBeGreaterThan(KILLS);
    expect(missing).toEqual([]);
    expect(wrong).toEqual([]);
    expect(await storage.ledger.sumOfBudget("budget_kill")).toBe(spent);
    expect((await storage.admin.budgets.get("budget_kill"))!.held).toBe(0n);
    await storage.close(5000);
    expect(readdirSync(journals)).toEqual([KEPT]);
  }, 60_000);

  test("the journal of a living process is left alone, and taken over once it is killed", async () => {
    const journals = join(folder, "living");
    const child = startWriter(database, journals);
    const reader = child.stdout.getReader();
    await reader.read();
    expect(adoptFolders(journals, "proc_other", () => {})).toEqual([]);
    child.kill("SIGKILL");
    await child.exited;
    const adopted = adoptFolders(journals, "proc_other", () => {});
    expect(adopted).toHaveLength(1);
    for (const one of adopted) one.release();
  });

  test("a charge is in the ledger within a second, and a running request's checkpoint is not", async () => {
    const storage = await open("proc_ship", join(folder, "ship"));
    storage.journal.append({ type: "checkpoint", entry: anEntry("running", 1n) });
    storage.journal.append({ type: "checkpoint", entry: anEntry("ended", 1n) });
    storage.journal.append({ type: "charge", entry: anEntry("ended", 2n) });
    expect(storage.backlog()).toBe(1);
    expect(await storage.flush(1000)).toBe(true);
    expect(await storage.ledger.find("ended", "charge")).toMatchObject({ amount: 2n, flags: [] });
    expect(await storage.ledger.find("running", "charge")).toBeNull();
    await storage.close(1000);
  });

  test("the next start posts what a kill left, checkpoints as partial charges", async () => {
    const journals = join(folder, "left");
    const first = await openStores(database);
    await first.admin.budgets.create(aBudget("budget_left", 100n), BY);
    await first.leases.take("proc_dead", [{ budget: "budget_left", needed: 50n, wanted: 50n }]);
    await first.database.close();
    mkdirSync(join(journals, "proc_dead"), { recursive: true });
    const journal = openJournal({ folder: join(journals, "proc_dead"), onAppend() {}, onProblem() {} });
    const budgets = ["budget_left"];
    journal.append({ type: "charge", entry: anEntry("left_charge", 7n, { budgets }) });
    // The number of entries exceeds one batch.
    for (let index = 0; index < 500; index += 1)
      journal.append({ type: "charge", entry: anEntry(`left_${index}`, 1n) });
    journal.append({
      type: "checkpoint",
      entry: anEntry("left_running", 4n, { budgets, flags: ["estimated"] }),
    });
    await journal.close();
    const storage = await open("proc_next", journals);
    expect(await storage.ledger.find("left_charge", "charge")).toMatchObject({ amount: 7n, flags: [] });
    expect(await storage.ledger.find("left_running", "charge")).toMatchObject({
      amount: 4n,
      flags: ["estimated", "partial"],
    });
    expect(storage.recovered()).toBe(502);
    expect(await storage.admin.budgets.get("budget_left")).toMatchObject({ spent: 11n, held: 0n });
    expect(existsSync(join(journals, "proc_dead"))).toBe(false);
    await storage.close(1000);
  });

  // PostgreSQL makes its own checkpoints.
  if (databases.kind === "sqlite")
    test("a WAL checkpoint is made while the process runs", async () => {
      const storage = await open("proc_checkpoints", join(folder, "checkpoints"));
      const before = statSync(database).size;
      for (let index = 0; index < 500; index += 1)
        storage.journal.append({ type: "charge", entry: anEntry(`written_${index}`, 1n) });
      expect(await storage.flush(5000)).toBe(true);
      // With so few writes, no commit causes a checkpoint.
      await until("a checkpoint", () => (statSync(database).size > before ? true : undefined));
      await storage.close(1000);
    });

  test("an entry that no ledger can take is put aside and delays no other", async () => {
    const problems: string[] = [];
    const journals = join(folder, "refused");
    const storage = await open("proc_refused", journals, problems);
    storage.journal.append({ type: "charge", entry: anEntry("good_1", 1n) });
    storage.journal.append({ type: "charge", entry: anEntry("impossible", -1n) });
    storage.journal.append({ type: "charge", entry: anEntry("good_2", 1n) });
    expect(await storage.flush(1000)).toBe(true);
    expect(await storage.ledger.find("good_1", "charge")).not.toBeNull();
    expect(await storage.ledger.find("good_2", "charge")).not.toBeNull();
    expect(readFileSync(join(journals, "refused.log"), "utf8")).toContain('"impossible"');
    expect(problems).toHaveLength(1);
    await storage.close(1000);
  });

  test("an outage keeps memory bounded, and everything is posted from disk afterwards", async () => {
    const journals = join(folder, "outage");
    mkdirSync(journals);
    const stores = await openStores(database);
    let isDown = true;
    let posted = 0;
    const ledger: LedgerStore = {
      ...stores.ledger,
      async post(lease, entries) {
        if (isDown) throw new DependencyError("down");
        posted += entries.length;
        return await stores.ledger.post(lease, entries);
      },
    };
    const problems: string[] = [];
    const onProblem = (message: string) => problems.push(message);
    const marks = journalMarks(stores.database);
    await marks.set("proc_outage", 0);
    const shipper = startShipper({
      writer: directWriter({ ledger, marks, refusedPath: join(folder, "never"), onProblem }),
      marks,
      kept: keptSegments(journals, "ledger"),
      persist: () => stores.database.persist(),
      onProblem,
      folder: journals,
      processId: "proc_outage",
      clock: systemClock,
      maxQueued: 100,
      journal: () => journal,
    });
    const journal = openJournal({
      folder: journals,
      onProblem,
      segmentBytes: 50_000,
      onAppend: (...appended) => shipper.onAppend(...appended),
    });
    // Most of these characters have several bytes, because journal positions count bytes.
    const model = "汉字 🙂";
    for (let index = 0; index < 1500; index += 1) {
      journal.append({ type: "checkpoint", entry: anEntry(`out_${index}`, 1n) });
      journal.append({ type: "charge", entry: anEntry(`out_${index}`, 1n, { model }) });
    }
    expect(await shipper.flush(50)).toBe(false);
    expect(listSegments(journals).length).toBeGreaterThan(10);
    isDown = false;
    expect(await shipper.flush(10_000)).toBe(true);
    expect(posted).toBe(1500);
    expect(await stores.ledger.find("out_1499", "charge")).not.toBeNull();
    expect(listSegments(journals)).toEqual([journal.position().segment]);
    expect(problems).toEqual([]);
    await shipper.stop();
    await journal.close();
    await stores.database.close();
  });

  test("a charge that the disk refuses counts as backlog until the ledger takes it", async () => {
    const journals = join(folder, "full");
    mkdirSync(journals);
    const stores = await openStores(database);
    let isDown = true;
    const ledger: LedgerStore = {
      ...stores.ledger,
      post: (lease, entries) =>
        isDown ? Promise.reject(new DependencyError("down")) : stores.ledger.post(lease, entries),
    };
    let isFull = true;
    const marks = journalMarks(stores.database);
    await marks.set("proc_full", 0);
    const shipper = startShipper({
      writer: directWriter({ ledger, marks, refusedPath: join(folder, "never"), onProblem() {} }),
      marks,
      kept: keptSegments(journals, "ledger"),
      persist: () => stores.database.persist(),
      onProblem() {},
      folder: journals,
      processId: "proc_full",
      clock: systemClock,
      journal: () => ({
        ...journal,
        position: () => journal.position(),
        isWritable: () => !isFull,
        refusal: () => null,
        append: (record) => journal.append(record),
      }),
    });
    const journal = openJournal({
      folder: journals,
      onProblem() {},
      onAppend: (...appended) => shipper.onAppend(...appended),
    });
    journal.append({ type: "checkpoint", entry: anEntry("full_1", 1n) });
    for (const id of ["full_1", "full_2"]) expect(shipper.keep(anEntry(id, 2n))).toBe(true);
    expect(await shipper.flush(50)).toBe(false);
    expect(shipper.backlog()).toBe(2);
    isDown = false;
    expect(await shipper.flush(5000)).toBe(true);
    expect(await stores.ledger.find("full_1", "charge")).toMatchObject({ amount: 2n });
    expect(shipper.isSettled()).toBe(true);
    shipper.keep(anEntry("full_3", 2n));
    isFull = false;
    isDown = true;
    await shipper.flush(50);
    // The entry must be on disk, where a restart reads it.
    expect(
      Array.from(
        replay(segmentFiles(journals), () => {}),
        ({ entry }) => entry.id,
      ),
    ).toContain("full_3");
    expect(shipper.backlog()).toBe(1);
    await shipper.stop();
    await journal.close();
    await stores.database.close();
  });

  test("the journal of a process that exits at once is posted by the next, and its money stays held until then", async () => {
    const journals = join(folder, "abandoned");
    const storage = await open("proc_hasty", journals);
    await storage.admin.budgets.create(aBudget("budget_hasty", 100n), BY);
    await storage.leases.take("proc_hasty", [{ budget: "budget_hasty", needed: 10n, wanted: 10n }]);
    const entry = anEntry("hasty", 3n, { budgets: ["budget_hasty"] });
    storage.journal.append({ type: "charge", entry });
    await storage.close(0);
    const stores = await openStores(database);
    expect(await stores.admin.budgets.get("budget_hasty")).toMatchObject({ spent: 0n, held: 10n });
    await stores.database.close();
    const next = await open("proc_heir", journals);
    expect(await next.ledger.find("hasty", "charge")).not.toBeNull();
    expect(await next.admin.budgets.get("budget_hasty")).toMatchObject({ spent: 3n, held: 0n });
    await next.close(1000);
    expect(readdirSync(journals)).toEqual([KEPT]);
  });

  test("a checkpoint whose request never ended is charged by the next process, after a graceful stop too", async () => {
    const journals = join(folder, "unended");
    const storage = await open("proc_polite", journals);
    storage.journal.append({ type: "checkpoint", entry: anEntry("unended", 2n) });
    await storage.close(1000);
    expect(() => storage.journal.append({ type: "charge", entry: anEntry("late", 1n) })).toThrow("closed");
    expect(storage.journal.isWritable()).toBe(false);
    const next = await open("proc_next", journals);
    expect(await next.ledger.find("unended", "charge")).toMatchObject({ amount: 2n, flags: ["partial"] });
    await next.close(1000);
    expect(readdirSync(journals)).toEqual([KEPT]);
  });

  if (databases.kind === "sqlite") return;

  test("a server that crashes and comes back gets every charge, each once", async () => {
    const storage = await open("proc_crash", join(folder, "crash"));
    await storage.admin.budgets.create(aBudget("budget_crash", 10_000n), BY);
    const append = (from: number, to: number) => {
      for (let index = from; index < to; index += 1) {
        storage.journal.append({
          type: "charge",
          entry: anEntry(`crash_${index}`, 1n, { budgets: ["budget_crash"] }),
        });
      }
    };
    append(0, 1000);
    const flushing = storage.flush(20);
    await databases.server().crash();
    append(1000, 2000);
    await flushing;
    expect(storage.backlog()).toBeGreaterThan(0);
    await databases.server().restart();
    expect(await storage.flush(10_000)).toBe(true);
    expect(await storage.ledger.sumOfBudget("budget_crash")).toBe(2000n);
    expect(await storage.admin.budgets.get("budget_crash")).toMatchObject({ spent: 2000n });
    await storage.close(1000);
  });
});

/** Runs the writer and kills it some time after the writer's first line. Returns the acknowledged entries. */
async function writeUntilKilled(
  database: string,
  journals: string,
  backoffMs: number,
): Promise<Map<string, string>> {
  const child = startWriter(database, journals);
  let text = "";
  let killing: Promise<void> | null = null;
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    killing ??= Bun.sleep(backoffMs).then(() => child.kill("SIGKILL"));
  }
  await child.exited;
  const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
  return new Map(lines.filter(Boolean).map((line) => [line.split(" ")[1]!, line.split(" ")[0]!]));
}

function startWriter(database: string, journals: string) {
  return Bun.spawn({
    cmd: [
      process.execPath,
      join(import.meta.dir, "storage-journal-writer.ts"),
      database,
      journals,
      "budget_kill",
    ],
    stdio: ["ignore", "pipe", "inherit"],
  });
}
