import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { DependencyError } from "../../src/gateway/dependency-error.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { openStores } from "../../src/storage/index.ts";
import { openJournal } from "../../src/storage/journal/journal.ts";
import { keptSegments } from "../../src/storage/journal/kept-segments.ts";
import { openThreadWriter } from "../../src/storage/journal/ledger-writer.ts";
import { RecordLines } from "../../src/storage/journal/record-line.ts";
import { startShipper } from "../../src/storage/journal/shipper.ts";
import { journalMarks } from "../../src/storage/tables/journal-marks.ts";
import { aBudget, anEntry, BY, onEachDatabase, temporaryFolder } from "./storage-harness.ts";

const THREAD = join(import.meta.dir, "../../src/storage/journal/ledger-writer-thread.ts");

onEachDatabase("The thread that writes the ledger", (databases) => {
  const folder = temporaryFolder();

  /**
   * Returns the URL of a script for a thread. The first thread runs `code` for each batch. Later threads write the
   * ledger.
   */
  function failingThread(name: string, code: string): URL {
    const path = join(folder, `${name}.ts`);
    const marker = JSON.stringify(join(folder, `${name}.failed`));
    writeFileSync(
      path,
      `import { existsSync, writeFileSync } from "node:fs";
       import { parentPort } from "node:worker_threads";
       if (existsSync(${marker})) await import(${JSON.stringify(THREAD)});
       else parentPort.on("message", () => { writeFileSync(${marker}, ""); ${code} });`,
    );
    return pathToFileURL(path);
  }

  async function open(name: string, options: { script?: URL; patienceMs?: number } = {}) {
    const location = await databases.location();
    const stores = await openStores(location);
    const problems: string[] = [];
    const onProblem = (message: string) => problems.push(message);
    const refusedPath = join(folder, `${name}.refused`);
    const writer = openThreadWriter({ location, refusedPath, onProblem, ...options });
    return { location, stores, problems, onProblem, writer };
  }

  test("batches posted at once and posted again count once", async () => {
    const { stores, problems, writer } = await open("once");
    await stores.admin.budgets.create(aBudget("budget_once", 1_000n), BY);
    await stores.leases.take("proc_once", [{ budget: "budget_once", needed: 10n, wanted: 10n }]);
    const lineOf = (id: string) =>
      new RecordLines().write({ type: "charge", entry: anEntry(id, 2n, { budgets: ["budget_once"] }) });
    const first = Buffer.concat([lineOf("once_1"), lineOf("once_2")]);
    await Promise.all([first, first, lineOf("once_3")].map((lines) => writer.post("proc_once", lines)));
    await writer.post("proc_once", first);
    expect(await stores.admin.budgets.get("budget_once")).toMatchObject({ spent: 6n, held: 4n });
    expect(problems).toEqual([]);
    await writer.close();
    await stores.database.close();
  });

  const failures = {
    exits: "process.exit(3);",
    throws: `throw new Error("broken");`,
    hangs: "",
  };
  test.each(Object.entries(failures))(
    "one that %s is reported and replaced, and nothing is lost",
    async (name, code) => {
      const script = failingThread(name, code);
      const patienceMs = name === "hangs" ? 3_000 : undefined;
      const { stores, problems, onProblem, writer } = await open(name, { script, patienceMs });
      const journals = join(folder, `journals-${name}`);
      mkdirSync(journals);
      const marks = journalMarks(stores.database);
      await marks.set("proc_thread", 0);
      const shipper = startShipper({
        writer,
        marks,
        kept: keptSegments(journals, "ledger"),
        persist: () => stores.database.persist(),
        onProblem,
        folder: journals,
        processId: "proc_thread",
        clock: systemClock,
        journal: () => journal,
      });
      const journal = openJournal({
        folder: journals,
        onProblem,
        onAppend: (...appended) => shipper.onAppend(...appended),
      });
      for (const id of ["thread_1", "thread_2"])
        journal.append({ type: "charge", entry: anEntry(`${name}_${id}`, 3n) });
      expect(shipper.backlog()).toBe(2);
      expect(await shipper.flush(20_000)).toBe(true);
      expect(await stores.ledger.find(`${name}_thread_2`, "charge")).toMatchObject({ amount: 3n });
      expect(problems).toEqual(["the thread that writes the ledger has ended; another one continues"]);
      await shipper.stop();
      await journal.close();
      await writer.close();
      await stores.database.close();
    },
  );

  test("a database that is away makes a batch wait", async () => {
    const onProblem = () => {};
    const location =
      databases.kind === "sqlite" ? join(folder, "file", "in", "a", "file") : "postgres://127.0.0.1:9/gone";
    writeFileSync(join(folder, "file"), "");
    const writer = openThreadWriter({ location, refusedPath: join(folder, "away.refused"), onProblem });
    const posting = writer.post(
      "proc_away",
      new RecordLines().write({ type: "charge", entry: anEntry("away", 1n) }),
    );
    await expect(posting).rejects.toThrow(databases.kind === "sqlite" ? Error : DependencyError);
    await writer.close();
  });
});
