import type { Route } from "../../src/domain/channel.ts";
import type { PriceRow } from "../../src/domain/price.ts";
import type { Model } from "../../src/domain/model.ts";
import { PatternMap } from "../../src/lib/pattern-map.ts";
import { expect, test } from "bun:test";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/lib/clock.ts";
import { openStorage, openStores } from "../../src/storage/index.ts";
import { openJournal } from "../../src/storage/journal/journal.ts";
import { directWriter } from "../../src/storage/journal/posting.ts";
import { createRecovery } from "../../src/storage/journal/recovery.ts";
import { listSegments } from "../../src/storage/journal/segments.ts";
import { startShipper } from "../../src/storage/journal/shipper.ts";
import { until } from "../support/gateway.ts";
import { aBudget, anEntry, BY, temporaryFolder } from "./storage-harness.ts";

const folder = temporaryFolder();

/** A database and a journal folder, and the segments that were there whenever the database was persisted. */
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
  const posting = {
    writer: directWriter({ ledger: stores.ledger, refusedPath: join(root, "refused.log"), onProblem }),
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
    root,
    processId: "proc_b",
  });
  await recovery.run();
  expect(recovery.recovered()).toBe(1);
  expect(persisted).toEqual([[1]]);
  expect(existsSync(journals)).toBe(false);
  // What the running process holds is its own.
  expect(await stores.admin.budgets.get("budget")).toMatchObject({ spent: 7n, held: 20n });
  expect(problems).toEqual([]);
  await stores.database.close();
});

test("a process that stops returns its leases of budgets", async () => {
  const database = join(folder, "stopped.sqlite");
  const configured = {
    models: new PatternMap<Model>(),
    channels: new Map(),
    routes: new PatternMap<Route>(),
    prices: new PatternMap<PriceRow>(),
  };
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
