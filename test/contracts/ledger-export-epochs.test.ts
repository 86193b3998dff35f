import { Database as Sqlite } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ledgerExporter } from "../../src/storage/ledger-export/exporter.ts";
import type { LedgerFile } from "../../src/storage/ledger-export/files.ts";
import { openStores } from "../../src/storage/index.ts";
import { anEntry, onEachDatabase } from "./storage-harness.ts";

/*
 * The exported files of a ledger whose database went back in time. A reader who follows the documents must find each
 * entry exactly once, and no other entry.
 */
const PAGE = await Bun.file(join(import.meta.dir, "../../docs/money-and-privacy/warehouse.md")).text();
const [, LOAD = ""] =
  /<!-- run by test\/contracts\/ledger-export-epochs\.test\.ts -->\n\n```sql\n([^`]+)```/.exec(PAGE) ?? [];
const SEEDS = 12;
const STEPS = 60;

onEachDatabase("Files of a ledger that goes back in time", (databases) => {
  test("are left out by the rule where a running process goes on", async () => {
    await using world = await openWorld(await databases.location());
    await world.post("kept", 3);
    await world.step("proc_a");
    const before = await world.keep();
    await world.post("lost", 4);
    const [refund] = await world.post("refund", 1);
    await world.step("proc_a");
    await world.goBack(before, (id) => id !== refund);
    await world.step("proc_a");
    expect(await world.ids()).not.toContain(refund);
    expect(world.loaded()).toEqual(await world.ids());
    expect(world.written.size).toBe(3);
  });

  test("are left out by the rule where the database forgot the export itself", async () => {
    await using world = await openWorld(await databases.location());
    await world.post("kept", 3);
    const before = await world.keep();
    await world.step("proc_a");
    await world.post("lost", 4);
    await world.step("proc_a");
    await world.goBack(before, () => true);
    await world.step("proc_b");
    expect(world.loaded()).toEqual(await world.ids());
  });

  test("are left out by the rule where a clock is late", async () => {
    await using world = await openWorld(await databases.location());
    await world.post("kept", 3);
    const before = await world.keep();
    await world.step("proc_a");
    await world.step("proc_b");
    // Simulates that the previous server's clock was an hour ahead.
    await world.run(`UPDATE ledger_exports SET epoch = epoch + 3600000, until_time = 0`);
    await world.post("lost", 4);
    await world.step("proc_b");
    await world.goBack(before, () => false);
    await world.post("new", 2);
    await world.step("proc_b");
    expect(world.loaded()).toEqual(await world.ids());
  });

  test("are left out by the rule where it goes back to the middle of a step", async () => {
    await using world = await openWorld(await databases.location());
    await world.post("kept", 3);
    await world.step("proc_a");
    const before = await world.keep();
    await world.post("lost", 2);
    await world.step("proc_a");
    // Simulates a database that was saved after a step had begun, but before the step's file was begun.
    const taken = "UPDATE ledger_exports SET until_time = (SELECT until_time FROM ledger_exports_after)";
    await world.run("CREATE TABLE ledger_exports_after AS SELECT * FROM ledger_exports");
    await world.goBack(before, () => false);
    await world.run(taken);
    await world.post("new", 2);
    await world.step("proc_a");
    expect(world.loaded()).toEqual(await world.ids());
  });
});

test("whatever processes do and wherever the database goes back to, the rule loads each entry once", async () => {
  const folder = await mkdtemp(join(tmpdir(), "gateway-epochs-"));
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    await using world = await openWorld(join(folder, `${seed}.sqlite`));
    const random = numbers(seed);
    const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!;
    const states = [await world.keep()];
    for (let step = 0; step < STEPS; step += 1) {
      const dice = random();
      if (dice < 0.35) await world.post(`entry_${step}`, 1 + Math.floor(random() * 3));
      else if (dice < 0.75) await world.step(pick(PROCESSES), pick(FATES));
      else if (dice < 0.85) await world.run("UPDATE ledger_exports SET until_time = 0");
      else if (dice < 0.93) states.push(await world.keep());
      else {
        await world.goBack(pick(states), () => random() < 0.8);
        // Each process checks once a minute, and so before the next restore.
        for (const processId of PROCESSES) await world.step(processId, pick(FATES));
      }
    }
    world.writeLate();
    await world.run("UPDATE ledger_exports SET until_time = 0");
    await world.post("last", 1);
    for (let round = 0; round < 2; round += 1) await world.step("proc_a");
    expect(world.loaded(), `seed ${seed}`).toEqual(await world.ids());
  }
  await rm(folder, { recursive: true });
}, 60_000);

test("DuckDB loads each entry once with the statement of the page", async () => {
  const hasDuckDb = Bun.spawnSync(["python3", "-c", "import duckdb"], { stderr: "ignore" }).success;
  if (!hasDuckDb) return console.warn("SKIPPED: the statement of the page in DuckDB: Python has no duckdb");
  const folder = await mkdtemp(join(tmpdir(), "gateway-epochs-"));
  await using world = await openWorld(join(folder, "gateway.sqlite"), "parquet");
  await world.post("kept", 3);
  await world.step("proc_a");
  const before = await world.keep();
  await world.post("lost", 4);
  await world.step("proc_a");
  await world.goBack(before, () => true);
  await world.step("proc_a");
  for (const [name, bytes] of world.written) await Bun.write(join(folder, name), bytes);
  const statement = LOAD.replace("s3://bucket/prefix", folder);
  const script = `import duckdb, json, sys
connection = duckdb.connect()
connection.execute(sys.stdin.read())
print(json.dumps([row[0] for row in connection.sql("SELECT id FROM ledger ORDER BY id").fetchall()]))`;
  const { stdout, stderr } = Bun.spawnSync(["python3", "-c", script], { stdin: Buffer.from(statement) });
  expect(stderr.toString()).toBe("");
  expect(JSON.parse(stdout.toString())).toEqual(await world.ids());
  await rm(folder, { recursive: true });
});

const FATES: readonly Fate[] = ["written", "written", "lost", "unknown", "late"];
const PROCESSES = ["proc_a", "proc_b", "proc_c"];
const TABLES = ["ledger", "ledger_exports", "ledger_sequence"];

/** `lost` is not written, `late` is written much later, `unknown` is written but the process gets an error. */
type Fate = "written" | "lost" | "unknown" | "late";

/** A ledger with exporters and their storage. Its database can go back to an earlier state. */
async function openWorld(location: string, format: "jsonl" | "parquet" = "jsonl") {
  const { database, ledger } = await openStores(location);
  const written = new Map<string, Uint8Array<ArrayBuffer>>();
  const late: LedgerFile[] = [];
  const posted = new Map<string, ReturnType<typeof anEntry>>();
  let fate: Fate = "written";
  let states = 0;
  const write = async (file: LedgerFile): Promise<void> => {
    if (fate === "late") late.push(file);
    if (fate === "written" || fate === "unknown") written.set(file.name, file.bytes);
    if (fate !== "written") throw new Error(fate);
  };
  const options = { destination: "s3://bucket/", write, format, maxEntries: 3 };
  const exporters = new Map(
    PROCESSES.map((processId) => [processId, ledgerExporter(database, { ...options, processId })]),
  );
  const run = (...statements: string[]) =>
    database.begin(async (sql) => {
      for (const statement of statements) await sql.unsafe(statement);
    });
  const ids = async () => {
    const rows = await database.read((sql) => sql<{ id: string }[]>`SELECT id FROM ledger`);
    return rows.map(({ id }) => id).toSorted();
  };
  return {
    written,
    run,
    /** Returns the ids in the ledger. */
    ids,
    async post(name: string, count: number): Promise<string[]> {
      const entries = Array.from({ length: count }, (_, index) => anEntry(`${name}_${index}_${states}`, 1n));
      for (const entry of entries) {
        posted.set(entry.id, entry);
        await ledger.post("proc_a", [entry]);
      }
      return entries.map(({ id }) => id);
    },
    async step(processId: string, becomes: Fate = "written"): Promise<void> {
      fate = becomes;
      await exporters
        .get(processId)!
        .next()
        .catch((error: Error) => expect(error.message).toBe(becomes));
    },
    writeLate() {
      for (const { name, bytes } of late.splice(0)) written.set(name, bytes);
    },
    async keep(): Promise<number> {
      states += 1;
      await run(...TABLES.map((table) => `CREATE TABLE ${table}_${states} AS SELECT * FROM ${table}`));
      return states;
    },
    /** Restores a saved state of the database, then posts the entries that journals still contain. */
    async goBack(state: number, isJournaled: (id: string) => boolean): Promise<void> {
      await run(
        ...TABLES.flatMap((table) => [
          `DELETE FROM ${table}`,
          `INSERT INTO ${table} SELECT * FROM ${table}_${state}`,
        ]),
      );
      const left = new Set(await ids());
      for (const entry of posted.values())
        if (!left.has(entry.id) && isJournaled(entry.id)) await ledger.post("proc_a", [entry]);
    },
    /** Returns the ids that a reader loads by the documented rule. */
    loaded(): string[] {
      const texts = countedFiles([...written.keys()]).map((name) =>
        new TextDecoder().decode(written.get(name)),
      );
      const lines = texts.flatMap((text) => text.trimEnd().split("\n"));
      return lines.map((line) => JSON.parse(line).id).toSorted();
    },
    [Symbol.asyncDispose]: () => database.close(),
  };
}

/**
 * Returns the files that the documented SQL statement loads. Matches names by its pattern and runs its query in SQLite.
 */
function countedFiles(names: readonly string[]): string[] {
  const [, pattern = ""] = /'(ledger-\(.*)\\\.parquet\$'/.exec(LOAD) ?? [];
  const [, query = ""] = /\), (epochs AS \([\s\S]*?)\n\);/.exec(LOAD) ?? [];
  using table = new Sqlite();
  table.run(
    "CREATE TABLE files (file TEXT, after_epoch INTEGER, after INTEGER, epoch INTEGER, last INTEGER)",
  );
  const insert = table.query("INSERT INTO files VALUES (?, ?, ?, ?, ?)");
  for (const name of names) {
    const [, ...parts] = new RegExp(`^${pattern}\\.`).exec(name) ?? [];
    insert.run(name, ...parts);
  }
  const select = `WITH RECURSIVE ${query.replace("list(file)", "file")}`;
  return table
    .query<{ file: string }, []>(select)
    .all()
    .map(({ file }) => file);
}

/** The random generator Mulberry32. Equal seeds give equal numbers. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
