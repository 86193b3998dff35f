import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { anEntry } from "../../../test/contracts/storage-harness.ts";
import { systemClock } from "../../lib/clock.ts";
import { DependencyError } from "../../gateway/dependency-error.ts";
import { openJournal } from "./journal.ts";
import { keptSegments } from "./kept-segments.ts";
import { readEntries } from "./record-line.ts";
import { listSegments, replay, segmentFiles, segmentPath } from "./segments.ts";
import { startShipper } from "./shipper.ts";

const root = mkdtempSync(join(tmpdir(), "gateway-shipper-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/**
 * Opens a shipper and its journal. The ledger delays the first batch until the test continues it. With `isFull`, the
 * journal's disk is full.
 */
function open(name: string, { isFull }: { isFull: boolean }) {
  const folder = join(root, name);
  mkdirSync(folder);
  const batches: string[][] = [];
  const numbers: (number | undefined)[] = [];
  const outage = { isOver: true };
  const begun = Promise.withResolvers<void>();
  const letGo = Promise.withResolvers<void>();
  const posted = { batch: Infinity };
  const kept = keptSegments(root, `ledger_${name}`);
  const shipper = startShipper({
    writer: {
      async post(_, lines, batch) {
        if (!outage.isOver) throw new DependencyError("the database is away");
        numbers.push(batch);
        batches.push(readEntries(lines).map(({ id }) => id));
        begun.resolve();
        await letGo.promise;
        return 0;
      },
    },
    marks: {
      read: async () => new Map([["proc_a", posted.batch]]),
      async set(_, batch) {
        posted.batch = batch;
      },
    },
    kept,
    persist: () => Promise.resolve(),
    onProblem() {},
    folder,
    processId: "proc_a",
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
    folder,
    onProblem() {},
    onAppend: (...appended) => shipper.onAppend(...appended),
  });
  const stop = async () => {
    await shipper.stop();
    await journal.close();
  };
  const ledger = { batches, numbers, outage, posted, hasBegun: begun.promise, letGo: letGo.resolve };
  return { folder, kept, shipper, journal, ...ledger, stop };
}

test("a charge that comes while a batch is posted is in the next", async () => {
  const { shipper, journal, batches, numbers, hasBegun, letGo, stop } = open("meanwhile", { isFull: false });
  const charge = (id: string) => journal.append({ type: "charge", entry: anEntry(id, 1n) });
  charge("before");
  const flushed = shipper.flush(5_000);
  await hasBegun;
  charge("meanwhile");
  expect(shipper.backlog()).toBe(2);
  letGo();
  expect(await flushed).toBe(true);
  expect(batches).toEqual([["before"], ["meanwhile"]]);
  expect([numbers, shipper.lastBatch()]).toEqual([[1, 2], 2]);
  expect(shipper.isSettled()).toBe(true);
  await stop();
});

test("a last flush does not wait for the pause after a failure", async () => {
  const { shipper, journal, outage, letGo, stop } = open("outage", { isFull: false });
  letGo();
  outage.isOver = false;
  journal.append({ type: "charge", entry: anEntry("late", 1n) });
  // After the third failure, at 750 ms, the pause lasts a second.
  expect(await shipper.flush(1_300)).toBe(false);
  outage.isOver = true;
  expect(await shipper.flush(200)).toBe(true);
  await stop();
});

test("charges that no disk takes are posted together, and one that comes meanwhile after them", async () => {
  const { shipper, batches, hasBegun, letGo, stop } = open("kept", { isFull: true });
  for (const id of ["one", "two"]) shipper.keep(anEntry(id, 1n));
  const flushed = shipper.flush(5_000);
  await hasBegun;
  shipper.keep(anEntry("meanwhile", 1n));
  letGo();
  expect(await flushed).toBe(true);
  expect(batches).toEqual([["one", "two"], ["meanwhile"]]);
  expect(shipper.isSettled()).toBe(true);
  await stop();
});

test("a segment that somebody has removed keeps none behind it", async () => {
  const { folder, shipper, journal, letGo, stop } = open("removed", { isFull: false });
  letGo();
  for (const id of ["one", "two"]) {
    journal.append({ type: "charge", entry: anEntry(id, 1n) });
    journal.rotate();
  }
  unlinkSync(segmentPath(folder, 1));
  expect(await shipper.flush(5_000)).toBe(true);
  expect(listSegments(folder)).toEqual([3]);
  await stop();
});

test("charges that a disk takes again are journaled once and posted once, however many they are", async () => {
  const { folder, shipper, batches, letGo, stop } = open("many", { isFull: false });
  letGo();
  const ids = Array.from({ length: 1_200 }, (_, index) => `many_${index}`);
  for (const id of ids) shipper.keep(anEntry(id, 1n));
  expect(await shipper.flush(5_000)).toBe(true);
  expect(
    Array.from(
      replay(segmentFiles(folder), () => {}),
      ({ entry }) => entry.id,
    ),
  ).toEqual(ids);
  expect(batches.flat()).toEqual(ids);
  expect(shipper.isSettled()).toBe(true);
  await stop();
});

test("a database that has lost a batch gets all that is on the disk again, and is asked no more", async () => {
  const { kept, shipper, journal, batches, posted, letGo, stop } = open("lost", { isFull: false });
  letGo();
  for (const id of ["one", "two", "three"]) {
    journal.append({ type: "charge", entry: anEntry(id, 1n) });
    expect(await shipper.flush(5_000)).toBe(true);
    if (id === "one") journal.rotate();
  }
  expect(kept.list("proc_a").map(({ segment }) => segment)).toEqual([1]);
  posted.batch = 2;
  await shipper.flush(5_000);
  expect(batches.slice(3)).toEqual([["one", "two", "three"]]);
  expect(posted.batch).toBe(3);
  await shipper.flush(5_000);
  expect(batches).toHaveLength(4);
  await stop();
});
