import { expect, test } from "bun:test";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { writeFileSync } from "node:fs";
import type { AdminStore } from "../../src/admin/ports.ts";
import { DependencyError } from "../../src/gateway/ports.ts";
import { withReadingThreads } from "../../src/storage/readings/readings.ts";
import { openStores } from "../../src/storage/stores/stores.ts";
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

const READINGS: ((admin: AdminStore) => Promise<unknown>)[] = [
  (admin) => admin.usage.sums(RANGE, ["at", "keyId"]),
  (admin) => admin.usage.spending(RANGE, ["model"]),
  (admin) => admin.usage.traffic(RANGE, ["at"]),
  (admin) => admin.usage.errors(RANGE, ["channel"]),
  (admin) => admin.usage.hasPictures(),
  (admin) => admin.ledger.list({ limit: 10 }),
  (admin) => admin.ledger.position("e_1"),
  (admin) => admin.ledger.history("e_1"),
  (admin) => admin.requests.list({}, FIRST),
  (admin) => admin.requests.find("e_1"),
  (admin) => admin.pictures.list({}, { since: 0, ...FIRST }),
  (admin) => admin.audit.list({ limit: 10 }),
  (admin) => admin.jobs.list({ limit: 10 }),
  (admin) => admin.keys.page({ limit: 10 }),
  (admin) => admin.keys.lastUsed(["key_a"]),
];

test("the thread reads what the store has, and sees what was just written", async () => {
  await using opened = await open("same");
  const { stores, threaded, problems } = opened;
  await threaded.organizations.create(anOrganization("org_a"), BY);
  for (const id of ["e_1", "e_2"]) {
    await stores.ledger.post("proc_a", [anEntry(id, 5n, { organizationId: "org_a" })]);
    for (const read of READINGS) expect(await read(threaded)).toEqual(await read(stores.admin));
  }
  expect(await threaded.ledger.list({ limit: 10 })).toHaveLength(2);
  expect(problems).toEqual([]);
});

test("requests have their turns while a long reading goes on", async () => {
  await using opened = await open("long");
  const { stores, threaded } = opened;
  await stores.database.begin(async (sql) => {
    await sql`INSERT INTO audit (revision, at, actor, kind, action, subject)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
      SELECT i, i, 'a', 'key', 'create', 'key_' || i FROM n`;
  });
  const read = (admin: AdminStore) => admin.audit.list({ actor: "nobody", limit: 10 });
  const inPlace = await turnsDuring(() => read(stores.admin));
  await read(threaded);
  const onThread = await turnsDuring(() => read(threaded));
  expect(onThread).toBeGreaterThan(5 * Math.max(1, inPlace));
});

/** Turns that the event loop takes while something is awaited. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await work();
  isOver = true;
  return turns;
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
