import { expect, test } from "bun:test";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { existsSync, unlinkSync, writeFileSync } from "node:fs";
import type { AdminStore } from "../../src/admin/admin-store.ts";
import { DependencyError } from "../../src/gateway/dependency-error.ts";
import { openThreadWriter } from "../../src/storage/journal/ledger-writer.ts";
import { RecordLines } from "../../src/storage/journal/record-line.ts";
import { READERS } from "../../src/storage/readings/readers.ts";
import { withReadingThreads } from "../../src/storage/readings/readings.ts";
import { openDatabase } from "../../src/storage/database/open.ts";
import { findPostgres, startPostgres } from "../support/postgres.ts";
import { threadCpuMs } from "../support/thread-cpu.ts";
import { openStores } from "../../src/storage/tables/stores.ts";
import { anEntry, anOrganization, BY, temporaryFolder } from "./storage-harness.ts";

const folder = temporaryFolder();
const RANGE = { from: 0, to: 10 ** 13, span: "hour" } as const;
const FIRST = { below: null, limit: 10 };

async function open(name: string, script?: URL) {
  const location = join(folder, `${name}.sqlite`);
  const stores = await openStores(location);
  const problems: string[] = [];
  const onProblem = (message: string) => problems.push(message);
  const reading = withReadingThreads(stores.admin, {
    location,
    journals: join(folder, "journal"),
    onProblem,
    ...(script && { script }),
  });
  return {
    stores,
    problems,
    threaded: reading.admin,
    async [Symbol.asyncDispose]() {
      await reading.close();
      await stores.database.close();
    },
  };
}

test("no thread and no report makes a new file in place of one that was removed", async () => {
  await using opened = await open("removed");
  const location = join(folder, "removed.sqlite");
  const writer = openThreadWriter({ location, refusedPath: join(folder, "refused"), onProblem: () => {} });
  unlinkSync(location);
  const line = new RecordLines().write({ type: "charge", entry: anEntry("lost", 2n) });
  const calls = [
    opened.threaded.organizations.list(),
    opened.threaded.ledger.verify(),
    writer.post("proc", line),
    opened.stores.database.readConsistently(async (sql) => await sql`SELECT 1`),
  ];
  for (const result of await Promise.allSettled(calls))
    expect(result).toMatchObject({ status: "rejected", reason: expect.any(DependencyError) });
  expect(existsSync(location)).toBe(false);
  await writer.close();
});

/** Every method that runs on another thread, by store and method. */
const READINGS: Readonly<Record<string, (admin: AdminStore) => Promise<unknown>>> = {
  "usage.sums": (admin) => admin.usage.sums(RANGE, ["at", "keyId"]),
  "usage.spending": (admin) => admin.usage.spending(RANGE, ["model"]),
  "usage.traffic": (admin) => admin.usage.traffic(RANGE, ["at"]),
  "usage.counts": (admin) => admin.usage.counts(RANGE, ["channel"]),
  "usage.hasPictures": (admin) => admin.usage.hasPictures(),
  "ledger.list": (admin) => admin.ledger.list({ limit: 10 }),
  "ledger.listPosted": (admin) =>
    admin.ledger.listPosted({ limit: 10, after: { sequence: -1, id: "", kind: "" }, upTo: 10 ** 15 }),
  "ledger.position": (admin) => admin.ledger.position("e_1"),
  "ledger.history": (admin) => admin.ledger.history("e_1"),
  "requests.list": (admin) => admin.requests.list({}, FIRST),
  "requests.find": (admin) => admin.requests.find("e_1"),
  "pictures.list": (admin) => admin.pictures.list({}, { since: 0, ...FIRST }),
  "audit.list": (admin) => admin.audit.list({ limit: 10 }),
  "jobs.list": (admin) => admin.jobs.list({ limit: 10 }),
  "keys.page": (admin) => admin.keys.page({ limit: 10 }),
  "keys.lastUsed": (admin) => admin.keys.lastUsed(["key_a"]),
  "organizations.list": (admin) => admin.organizations.list(),
  "organizations.page": (admin) => admin.organizations.page({ limit: 10 }),
  "keys.list": (admin) => admin.keys.list(),
  "keys.count": (admin) => admin.keys.count("org_a", 10),
  "prices.list": (admin) => admin.prices.list(),
  "prices.page": (admin) => admin.prices.page({ limit: 10 }),
  "budgets.list": (admin) => admin.budgets.list(),
  "budgets.page": (admin) => admin.budgets.page({ limit: 10 }),
  "budgets.ofKeys": (admin) => admin.budgets.ofKeys(["key_a"]),
  "budgets.ofOrganizations": (admin) => admin.budgets.ofOrganizations(["org_a"]),
  "budgets.mostSpent": (admin) => admin.budgets.mostSpent(10),
  "budgets.nearlySpent": (admin) => admin.budgets.nearlySpent({ limit: 10 }),
  "budgets.leasesInDoubt": (admin) => admin.budgets.leasesInDoubt(),
  "members.list": (admin) => admin.members.list(),
  "sessions.list": (admin) => admin.sessions.list("user_a"),
  "adminTokens.list": (admin) => admin.adminTokens.list(),
  "webhooks.list": (admin) => admin.webhooks.list(),
  "webhooks.deliveries": (admin) => admin.webhooks.deliveries({ limit: 10 }),
  "alerts.page": (admin) => admin.alerts.page({ limit: 10 }),
  "alerts.notices": (admin) => admin.alerts.notices(["event_a"]),
  "alerts.ejections": (admin) => admin.alerts.ejections(),
  "alerts.undelivered": (admin) => admin.alerts.undelivered(),
  "alerts.events": (admin) => admin.alerts.events({ limit: 10 }),
  "ledger.charges": (admin) =>
    admin.ledger.charges({ organizationId: "org_a", model: "m", from: 0, to: 10 ** 13, after: null }),
  "ledger.verify": async (admin) => ({ ...(await admin.ledger.verify()), at: 0 }),
  "audit.verify": (admin) => admin.audit.verify(),
};

test("the thread reads what the store has, and sees what was just written", async () => {
  await using opened = await open("same");
  const { stores, threaded, problems } = opened;
  await threaded.organizations.create(anOrganization("org_a"), BY);
  for (const id of ["e_1", "e_2"]) {
    await stores.ledger.post("proc_a", [anEntry(id, 5n, { organizationId: "org_a" })]);
    for (const read of Object.values(READINGS))
      expect(await read(threaded)).toEqual(await read(stores.admin));
  }
  expect(await threaded.ledger.list({ limit: 10 })).toHaveLength(2);
  expect(problems).toEqual([]);
});

test("every method that a thread runs is tried", () => {
  const threaded = Object.entries(READERS).flatMap(([store, methods]) =>
    Object.entries(methods).flatMap(([method, reader]) => (reader === "caller" ? [] : `${store}.${method}`)),
  );
  expect(Object.keys(READINGS).toSorted()).toEqual(threaded.toSorted());
});

test("a long reading takes no time of the thread of requests", async () => {
  await using opened = await open("long");
  const { stores, threaded } = opened;
  await stores.database.begin(async (sql) => {
    await sql`INSERT INTO audit (revision, at, actor, kind, action, subject)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
      SELECT i, i, 'a', 'key', 'create', 'key_' || i FROM n`;
  });
  const long = [
    (admin: AdminStore) => admin.audit.list({ actor: "nobody", limit: 10 }),
    (admin: AdminStore) => admin.audit.verify(),
  ];
  for (const read of long) {
    await read(threaded);
    const inPlaceMs = await cpuMsOf(() => read(stores.admin));
    const onThreadMs = await cpuMsOf(() => read(threaded));
    expect(onThreadMs).toBeLessThan(inPlaceMs / 5);
  }
});

/** Returns the minimum processor time of this thread while it awaits `work`, from three rounds. */
async function cpuMsOf(work: () => Promise<unknown>): Promise<number> {
  const timesMs: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const startedAtMs = threadCpuMs();
    await work();
    timesMs.push(threadCpuMs() - startedAtMs);
  }
  return Math.min(...timesMs);
}

test("a reading whose thread ends fails as if the database were away, and the next one has another thread", async () => {
  const script = join(folder, "ends.ts");
  writeFileSync(
    script,
    `import { parentPort } from "node:worker_threads"; parentPort.on("message", () => process.exit(3));`,
  );
  await using opened = await open("ends", pathToFileURL(script));
  for (const count of [1, 2]) {
    await expect(opened.threaded.audit.list({ limit: 1 })).rejects.toThrow(DependencyError);
    expect(opened.problems).toHaveLength(count);
  }
});

const postgres = findPostgres();

test.skipIf("missing" in postgres)(
  "on PostgreSQL a verification takes no connection of requests",
  async () => {
    if ("missing" in postgres) return;
    const server = await startPostgres(postgres.folder);
    const location = await server.createDatabase();
    const stores = await openStores(location, { poolSize: 1 });
    const reading = withReadingThreads(stores.admin, { location, journals: folder, onProblem: () => {} });
    const other = await openDatabase(location);
    try {
      await stores.admin.organizations.create(anOrganization("org_a"), BY);
      const locked = Promise.withResolvers<void>();
      const isOver = Promise.withResolvers<void>();
      const holding = other.begin(async (sql) => {
        await sql`LOCK TABLE ledger IN ACCESS EXCLUSIVE MODE`;
        locked.resolve();
        await isOver.promise;
      });
      await locked.promise;
      const verification = reading.admin.ledger.verify();
      for (let count = 0; count < 20; count += 1)
        expect(await reading.admin.organizations.get("org_a")).toMatchObject({ id: "org_a" });
      expect(await reading.admin.organizations.list()).toHaveLength(1);
      isOver.resolve();
      await holding;
      expect(await verification).toMatchObject({ entries: 0, differenceCount: 0 });
    } finally {
      await reading.close();
      await Promise.all([other.close(), stores.database.close()]);
      await server.stop();
    }
  },
  60_000,
);
