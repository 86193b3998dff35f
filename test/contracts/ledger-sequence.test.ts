import { expect, test } from "bun:test";
import { join } from "node:path";
import { listLedger } from "../../src/admin/ledger/ledger.ts";
import { nextSequence, readableSequence } from "../../src/storage/database/ledger-sequence.ts";
import { openStores } from "../../src/storage/index.ts";
import { adminContext } from "../support/admin-context.ts";
import { aBudget, anEntry, BY, onEachDatabase } from "./storage-harness.ts";

const POSTERS = 3;
const ENTRIES = 2_000;
const MAX_MS = 20_000;

onEachDatabase("The order of posting", (databases) => {
  test("a reader that goes on behind its last entry misses none of several posting processes", async () => {
    const location = await databases.location();
    const stores = await openStores(location);
    await stores.admin.budgets.create(aBudget("budget", 1_000_000n), BY);
    const context = { ...(await adminContext()), store: stores.admin };
    const posters = Array.from({ length: POSTERS }, (_, index) =>
      Bun.spawn([process.execPath, join(import.meta.dir, "ledger-poster.ts"), location, `poster${index}`], {
        stdin: "pipe",
      }),
    );
    const found: string[] = [];
    let after = 0;
    let cursor: string | undefined;
    /** Reads one page. When no page is left, the next read continues after the entries that were found. */
    const read = async () => {
      const { entries, next } = await listLedger(context, { after, cursor, limit: 300 });
      found.push(...entries.map(({ id }) => id));
      cursor = next ?? undefined;
      const last = entries.at(-1)?.sequence;
      if (next === null && last !== undefined) after = last;
      return next !== null;
    };
    const deadline = performance.now() + MAX_MS;
    while (found.length < ENTRIES && performance.now() < deadline) await read();
    for (const { stdin } of posters) {
      stdin.write("end\n");
      await stdin.end();
    }
    await Promise.all(posters.map(({ exited }) => exited));
    while (await read());
    const rows = await stores.database.read((sql) => sql<{ id: string }[]>`SELECT id FROM ledger`);
    expect(found.toSorted()).toEqual(rows.map(({ id }) => id).toSorted());
    expect(found.length).toBeGreaterThanOrEqual(ENTRIES);
    await stores.database.close();
  }, 60_000);

  test("pages of entries that were posted together have each once", async () => {
    const stores = await openStores(await databases.location());
    const context = { ...(await adminContext()), store: stores.admin };
    const ids = ["a", "b", "c", "d", "e"];
    await stores.ledger.post(
      "proc_a",
      ids.map((id) => anEntry(id, 1n)),
    );
    const found: string[] = [];
    let cursor: string | undefined;
    for (let pages = 0; pages < 3; pages += 1) {
      const { entries, next } = await listLedger(context, { after: 0, cursor, limit: 2 });
      found.push(...entries.map(({ id }) => id));
      cursor = next ?? undefined;
    }
    expect([found, cursor]).toEqual([ids, undefined]);
    await stores.database.close();
  });

  test("entries stay behind what was promised when the clock goes back", async () => {
    const stores = await openStores(await databases.location());
    const ahead = Date.now() + 3_600_000;
    await stores.database.begin(
      async (sql) => void (await sql`UPDATE ledger_sequence SET promised = ${ahead}`),
    );
    await stores.ledger.post("proc_a", [anEntry("plain", 1n), anEntry("booked", 1n, { budgets: ["none"] })]);
    expect(await readableSequence(stores.database)).toBe(ahead);
    for (const id of ["plain", "booked"])
      expect((await stores.ledger.find(id, "charge"))!.sequence).toBe(ahead + 1);
    await stores.database.close();
  });

  if (databases.kind === "sqlite") return;

  test("no number is readable while a transaction that may have a lower one runs, and none waits for a reader", async () => {
    const location = await databases.location();
    const stores = await openStores(location);
    const other = await databases.open(location);
    const begun = Promise.withResolvers<void>();
    const letGo = Promise.withResolvers<void>();
    let isDone = false;
    const slow = other.begin(async (sql) => {
      const number = await nextSequence("postgres", sql);
      begun.resolve();
      await letGo.promise;
      isDone = true;
      return Number(number);
    });
    await begun.promise;
    const readable = readableSequence(stores.database).then((number) => ({ number, isDone }));
    await stores.ledger.post("proc_a", [anEntry("meanwhile", 1n)]);
    letGo.resolve();
    const { number, isDone: wasDone } = await readable;
    expect(wasDone).toBe(true);
    expect(await slow).toBeLessThanOrEqual(number);
    await stores.database.close();
  });
});
