import { beforeAll, beforeEach, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AdminContext } from "../../src/admin/context.ts";
import { verifyLedger } from "../../src/admin/ledger/upkeep.ts";
import { RecordLines } from "../../src/storage/journal/record-line.ts";
import { migrate } from "../../src/storage/database/migrate.ts";
import type { Database } from "../../src/storage/database/sql.ts";
import { ledgerExporter } from "../../src/storage/ledger-export/exporter.ts";
import { readEntries } from "../../src/storage/tables/archive-file.ts";
import { storesOn, type Stores } from "../../src/storage/tables/stores.ts";
import { journalMarks } from "../../src/storage/tables/journal-marks.ts";
import { countRefused } from "../../src/storage/tables/journal-verification.ts";
import { readVerification } from "../../src/storage/tables/verification.ts";
import { archiveLedger, refund } from "../support/admin-calls.ts";
import { adminContext, NOW, refusal } from "../support/admin-context.ts";
import { aBudget, anEntry, anOrganization, BY, onEachDatabase, temporaryFolder } from "./storage-harness.ts";

const MARCH = Date.UTC(2026, 2, 1);
const APRIL = Date.UTC(2026, 3, 1);
const MAY = Date.UTC(2026, 4, 1);
const HOUR_MS = 3_600_000;

onEachDatabase("Upkeep of the ledger", (databases) => {
  const root = temporaryFolder();
  let count = 0;
  let journals: string;
  let folder: string;
  let database: Database;
  let stores: Stores;
  let context: AdminContext;
  beforeAll(() => mkdirSync(root, { recursive: true }));
  beforeEach(async () => {
    count += 1;
    journals = join(root, `${count}-journal`);
    folder = join(root, `${count}-archive`);
    database = await databases.open(await databases.location());
    await migrate(database);
    stores = storesOn(database, journals);
    context = { ...(await adminContext()), store: stores.admin };
    await stores.admin.organizations.create(anOrganization("org_a"), BY);
    await stores.admin.budgets.create(aBudget("total", 10n ** 12n), BY);
    await stores.admin.budgets.create(
      aBudget("month", 10n ** 12n, { period: "month", periodStart: MAY }),
      BY,
    );
    await stores.leases.take("proc", [{ budget: "total", needed: 1n, wanted: 10_000n }]);
    const entry = (id: string, at: number) => anEntry(id, 10n, { at, budgets: ["total", "month"] });
    const entries = [MARCH, APRIL, MAY].flatMap((start) =>
      Array.from({ length: 450 }, (_, index) => entry(`${start}-${index}`, start + HOUR_MS + index * 1000)),
    );
    await stores.ledger.post("proc", entries);
    await stores.ledger.post("", [anEntry("free", 0n, { at: MARCH, currency: "EUR" })]);
    // The state that the budget would have if each charge had been posted in its own month.
    await execute(`UPDATE budgets SET spent = 4500, period_start = ${MAY} WHERE id = 'month'`);
    for (const start of [MARCH, APRIL, MAY])
      await execute(`UPDATE ledger_bookings SET period_start = ${start}
        WHERE budget = 'month' AND entry LIKE '${start}-%'`);
  });

  const archive = (before: string) => Array.fromAsync(archiveLedger(context, { before, folder }));
  const execute = (text: string) => database.begin((sql) => sql.unsafe(text));
  const found = async () =>
    (await verifyLedger(context)).differences.map(({ check, subject, expected, found }) => [
      check,
      subject,
      expected,
      found,
    ]);

  test("a ledger that agrees with everything has no differences", async () => {
    await refund(context, `${MARCH}-3`, { reason: "late", amount: "0.000000004" });
    await refund(context, `${MAY}-3`, { reason: "late", amount: "0.000000004" });
    expect(await verifyLedger(context)).toEqual({
      at: expect.any(Number),
      entries: 1353,
      budgets: 2,
      waiting: 0,
      differenceCount: 0,
      differences: [],
    });
    expect(await readVerification(database)).toEqual({ at: expect.any(Number), differences: 0 });
  });

  test("a booking counts in the period that it was made in, whatever the clocks say", async () => {
    const start = MAY;
    await execute(`UPDATE budgets SET spent = 7, period_start = ${start} WHERE id = 'month'`);
    await stores.ledger.post("", [anEntry("skewed", 7n, { at: MARCH, budgets: ["month"] })]);
    await execute(`UPDATE ledger_bookings SET period_start = ${start} WHERE entry = 'skewed'`);
    await execute(`UPDATE budgets SET spent = 7, period_start = ${start} WHERE id = 'month'`);
    await execute("UPDATE ledger_bookings SET period_start = 0 WHERE budget = 'month' AND entry <> 'skewed'");
    expect(await found()).toEqual([]);
    await execute("UPDATE budgets SET spent = 8 WHERE id = 'month'");
    expect(await found()).toEqual([["spent", "month", 7n, 8n]]);
  });

  test("each kind of difference is found", async () => {
    await execute("UPDATE budgets SET spent = spent + 1, held = held + 2 WHERE id = 'total'");
    await execute("UPDATE budgets SET spent = spent - 3 WHERE id = 'month'");
    await execute(`DELETE FROM ledger_bookings WHERE entry = '${MARCH}-1' AND budget = 'month'`);
    await execute(`UPDATE ledger_bookings SET amount = 11 WHERE entry = '${MARCH}-2' AND budget = 'month'`);
    await execute(`DELETE FROM ledger WHERE id = '${MARCH}-4'`);
    mkdirSync(join(journals, "proc_gone"), { recursive: true });
    const charges = [
      anEntry("left out", 5n),
      anEntry(`${MAY}-1`, 12n),
      anEntry("in turn", 6n),
      anEntry("new", 8n, { at: Date.now() }),
    ];
    const lines = new RecordLines();
    for (const entry of charges) lines.write({ type: "charge", entry });
    writeFileSync(join(journals, "proc_gone", "00000001.log"), lines.bytes);
    writeFileSync(join(journals, "refused.log"), '{"id":"impossible","amount":"7"}\n');
    mkdirSync(join(journals, "quarantine", "proc_old"), { recursive: true });
    writeFileSync(join(journals, "quarantine", "proc_old", "00000002.log"), "?");
    const all = (others: (string | bigint | null)[][]) =>
      [
        ...others,
        ["spent", "total", 13_500n, 13_501n],
        ["spent", "month", 4500n, 4497n],
        ["held", "total", 0n, 2n],
        ["booking", `${MARCH}-1 on month`, 10n, null],
        ["booking", `${MARCH}-2 on month`, 10n, 11n],
        ["booking", `${MARCH}-4 on month`, null, 10n],
        ["booking", `${MARCH}-4 on total`, null, 10n],
        ["journal", "left out", 5n, null],
        ["journal", `${MAY}-1`, 12n, 10n],
        ["refused", "impossible", 7n, null],
        ["quarantined", "proc_old/00000002.log", null, null],
      ].toSorted();
    expect((await found()).toSorted()).toEqual(all([["journal", "in turn", 6n, null]]));
    // While `proc_gone` has entries to post, entries after the posted position are not differences.
    await journalMarks(database).set("proc_gone", 1);
    expect((await found()).toSorted()).toEqual(all([]));
    expect((await verifyLedger(context)).waiting).toBe(3);
    // The remaining differences belong to this machine. Another machine's verification must not hide them.
    expect((await readVerification(database)).differences).toBe(7);
    expect(countRefused(journals)).toBe(1);
  });

  test("months move to verified files, and every sum stays", async () => {
    const archives = await archive("2026-05");
    expect(archives).toMatchObject([
      { month: "2026-03", entries: 451, sums: { USD: { charge: 4500n }, EUR: { charge: 0n } } },
      { month: "2026-04", entries: 450, sums: { USD: { charge: 4500n } } },
    ]);
    const [first] = archives;
    const bytes = readFileSync(join(folder, first!.file));
    expect(new Bun.CryptoHasher("sha256").update(bytes).digest("hex")).toBe(first!.sha256);
    const [page] = await Array.fromAsync(readEntries(join(folder, first!.file), 1000));
    expect(page![0]).toMatchObject(anEntry("free", 0n, { at: MARCH, currency: "EUR" }));
    expect(page![2]).toMatchObject(
      anEntry(`${MARCH}-1`, 10n, { at: MARCH + HOUR_MS + 1000, budgets: ["total", "month"] }),
    );
    expect(await stores.ledger.list({ limit: 2000 })).toHaveLength(450);
    expect(await stores.ledger.sumOfBudget("total")).toBe(13_500n);
    expect(await found()).toEqual([]);
    expect(await archive("2026-05")).toEqual([]);
    const audited = await stores.audit.list({ subject: "2026-03", limit: 10 });
    expect(audited).toMatchObject([{ action: "archive", after: { entries: 451, sha256: first!.sha256 } }]);
  });

  test("a month of more entries than one page reads is written whole", async () => {
    const more = Array.from({ length: 700 }, (_, index) => anEntry(`more-${index}`, 1n, { at: MARCH }));
    await stores.ledger.post("", more);
    expect(await archive("2026-04")).toMatchObject([{ month: "2026-03", entries: 1151 }]);
  });

  test("a run that was interrupted is finished, and late entries get a file of their own", async () => {
    const isolated = context.store.ledger;
    const broken: Database = {
      ...database,
      begin: () => Promise.reject(new Error("the power is gone")),
    };
    const store = { ...stores.admin, ledger: storesOn(broken, journals).admin.ledger };
    const interrupted = archiveLedger({ ...context, store }, { before: "2026-04", folder });
    await expect(Array.fromAsync(interrupted)).rejects.toThrow("the power is gone");
    expect(await isolated.oldestMonth(folder)).toBe("2026-03");
    await stores.ledger.post("", [anEntry("late", 3n, { at: MARCH + 7, budgets: ["total"] })]);
    expect(await archive("2026-04")).toMatchObject([{ entries: 451 }]);
    expect(await archive("2026-04")).toMatchObject([{ entries: 1, file: "ledger-2026-03-2.jsonl.gz" }]);
    expect(await isolated.oldestMonth(folder)).toBe("2026-04");
    expect(await found()).toEqual([]);
  });

  test("a run that was interrupted after the last removal is still audited", async () => {
    let removals = 0;
    const failing: Database = {
      ...database,
      begin(work) {
        removals += 1;
        return removals <= 3 ? database.begin(work) : Promise.reject(new Error("killed"));
      },
    };
    const store = { ...stores.admin, ledger: storesOn(failing, journals).admin.ledger };
    const killed = archiveLedger({ ...context, store }, { before: "2026-04", folder });
    await expect(Array.fromAsync(killed)).rejects.toThrow("killed");
    expect(await stores.ledger.list({ limit: 2000, to: APRIL })).toEqual([]);
    expect(await archive("2026-04")).toMatchObject([{ month: "2026-03", entries: 451 }]);
    expect(await stores.audit.list({ subject: "2026-03", limit: 10 })).toHaveLength(1);
    expect(await archive("2026-04")).toEqual([]);
    expect(await found()).toEqual([]);
  });

  test("a run that is ended between two pages leaves no part of a file, and the next one continues", async () => {
    const endAt = async (step: string) => {
      const onProgress = (text: string): void => {
        if (text === step) throw new Error("interrupted");
      };
      const run = archiveLedger(context, { before: "2026-04", folder }, onProgress);
      await expect(Array.fromAsync(run)).rejects.toThrow("interrupted");
    };
    await endAt("Writing 2026-03.");
    expect(readdirSync(folder)).toEqual([]);
    expect(await stores.ledger.list({ limit: 2000, to: APRIL })).toHaveLength(451);
    await endAt("Removing 2026-03 from the ledger.");
    expect(await stores.ledger.list({ limit: 2000, to: APRIL })).toHaveLength(451);
    expect(await archive("2026-04")).toMatchObject([{ month: "2026-03", entries: 451 }]);
    expect(await found()).toEqual([]);
  });

  test("nothing is removed by a file that has changed since it was verified", async () => {
    const broken: Database = { ...database, begin: () => Promise.reject(new Error("stopped")) };
    const store = { ...stores.admin, ledger: storesOn(broken, journals).admin.ledger };
    await expect(
      Array.fromAsync(archiveLedger({ ...context, store }, { before: "2026-04", folder })),
    ).rejects.toThrow("stopped");
    const file = readdirSync(folder).find((name) => name.endsWith(".gz"))!;
    appendFileSync(join(folder, file), "x");
    await expect(archive("2026-04")).rejects.toThrow("has changed since it was verified");
    expect(await stores.ledger.list({ limit: 2000 })).toHaveLength(1351);
  });

  test("nothing is removed by a file that lacks an entry of its month", async () => {
    // This entry is at the first moment of the month. Every read of the month must begin with this moment.
    await stores.ledger.post("", [anEntry("", 1n, { at: MARCH })]);
    await expect(archive("2026-04")).rejects.toThrow("does not have what the ledger has");
    expect(await stores.ledger.list({ limit: 2000 })).toHaveLength(1352);
  });

  test("a month of which an entry waits for an export stays, as does one whose file is being written", async () => {
    let isWritten = false;
    const write = async () => {
      if (!isWritten) throw new Error("the storage is away");
    };
    const options = { destination: "s3://bucket/", write, format: "jsonl", processId: "proc" } as const;
    const exporter = ledgerExporter(database, options);
    const refused =
      "entries of 2026-03 are not in the files at s3://bucket/ yet; nothing was removed. Wait for the export, or for a week after it has ended";
    await expect(exporter.next()).rejects.toThrow("the storage is away");
    await expect(archive("2026-05")).rejects.toThrow(refused);
    expect(readdirSync(folder)).toEqual([]);
    isWritten = true;
    while ((await exporter.next()).isMore);
    await stores.ledger.post("", [anEntry("late", 3n, { at: MARCH + 7 })]);
    await expect(archive("2026-05")).rejects.toThrow(refused);
    expect(await stores.ledger.list({ limit: 2000 })).toHaveLength(1352);
    await exporter.next();
    // After `leave`, the archive still waits for entries that this export has not written.
    await exporter.leave();
    await stores.ledger.post("", [anEntry("running", 3n, { at: MAY + 7 })]);
    expect(await archive("2026-05")).toMatchObject([{ entries: 452 }, { entries: 450 }]);
    await stores.ledger.post("", [anEntry("later", 3n, { at: MARCH + 8 })]);
    await expect(archive("2026-05")).rejects.toThrow(refused);
    await execute(`UPDATE ledger_exports SET until_time = until_time - ${8 * 24 * HOUR_MS}`);
    expect(await archive("2026-05")).toMatchObject([{ entries: 1 }]);
  });

  test("an entry that is posted while its month is written to a file waits for the export, too", async () => {
    const write = async () => {};
    const options = { destination: "s3://bucket/", write, format: "jsonl", processId: "proc" } as const;
    const exporter = ledgerExporter(database, options);
    while ((await exporter.next()).isMore);
    let readings = 0;
    const posting: Database = {
      ...database,
      async readConsistently(work) {
        readings += 1;
        if (readings === 2) await stores.ledger.post("", [anEntry("late", 3n, { at: MARCH + 7 })]);
        return await database.readConsistently(work);
      },
    };
    const store = { ...stores.admin, ledger: storesOn(posting, journals).admin.ledger };
    const archived = Array.fromAsync(archiveLedger({ ...context, store }, { before: "2026-04", folder }));
    await expect(archived).rejects.toThrow("are not in the files");
    expect(await stores.ledger.find("late", "charge")).not.toBeNull();
    await exporter.next();
    expect(await archive("2026-04")).toMatchObject([{ entries: 452 }]);
  });

  test("a month that is not over stays", async () => {
    expect(new Date(NOW).toISOString()).toStartWith("2026-05");
    expect(await refusal(archive("2026-06"))).toEqual([
      400,
      "before",
      "the month before 2026-06 is not over yet",
    ]);
    expect(await refusal(archive("May"))).toEqual([400, "before", "before must be a month such as 2026-01"]);
  });
});
