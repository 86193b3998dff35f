import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parquetMetadata, parquetReadObjects } from "hyparquet";
import type { LedgerEntry } from "../../src/domain/ledger.ts";
import { ledgerExporter } from "../../src/storage/ledger-export/exporter.ts";
import type { LedgerFile } from "../../src/storage/ledger-export/files.ts";
import { startLedgerExport } from "../../src/storage/ledger-export/ledger-export.ts";
import type { StorageReport } from "../../src/storage/report.ts";
import { openStores, type Stores } from "../../src/storage/index.ts";
import { until } from "../support/gateway.ts";
import { startS3, type S3Simulator } from "../upstreams/s3.ts";
import { anEntry, onEachDatabase } from "./storage-harness.ts";

const FOLDER = "made/here/";
const KILLS = 3;

let s3: S3Simulator;
let folder: string;
beforeAll(async () => {
  s3 = startS3();
  folder = await mkdtemp(join(tmpdir(), "gateway-export-"));
});
afterAll(async () => {
  await s3.stop();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  s3.objects.clear();
  s3.requests.length = 0;
});

onEachDatabase("The export of the ledger", (databases) => {
  test("each entry is in one file, also where exporters are killed while they write", async () => {
    const location = await databases.location();
    await using stores = await opened(location);
    const posted: string[] = [];
    let written = new Map<string, Uint8Array<ArrayBuffer>>();
    for (let round = 0; round < KILLS; round += 1) {
      await post(stores, `round${round}`, 7, posted);
      s3.requests.length = 0;
      const exporter = startExporter(location, `proc_${round}`);
      // From this time on the file may exist while the cursor is not updated yet.
      await until("a file", async () => s3.requests.some((one) => one.startsWith("PUT")) || undefined);
      exporter.kill("SIGKILL");
      await exporter.exited;
      await endTurn(stores);
      // A file never changes, even if it is written again after the kill.
      for (const [name, bytes] of written) expect(s3.objects.get(name)?.bytes, name).toEqual(bytes);
      written = new Map([...s3.objects].map(([name, { bytes }]) => [name, bytes]));
    }
    await post(stores, "last", 7, posted);
    await using exporter = runningExport(location, "proc_last");
    await until("all entries", async () => (await idsOf(s3)).length >= posted.length || undefined);
    expect((await idsOf(s3)).toSorted()).toEqual(posted.toSorted());
    expect(exporter.failures()).toBe(0);
    expect(exporter.lagSeconds()).toBeLessThan(60);
    for (const name of s3.objects.keys()) expect(name).toMatch(/^made\/here\/ledger-\d+-\d+-\d+-\d+\.jsonl$/);
  }, 60_000);

  test("processes that take the turn from each other write each entry into one file", async () => {
    const location = await databases.location();
    await using stores = await opened(location);
    const posted: string[] = [];
    const files = new Map<string, Set<string>>();
    const write = async ({ name, bytes }: LedgerFile): Promise<void> => {
      const text = new TextDecoder().decode(bytes);
      files.set(name, (files.get(name) ?? new Set<string>()).add(text));
      await endTurn(stores);
    };
    const options = { destination: "s3://bucket/", write, format: "jsonl", maxEntries: 5 } as const;
    const exporters = ["proc_a", "proc_b", "proc_c"].map((processId) =>
      ledgerExporter(stores.database, { ...options, processId }),
    );
    for (let round = 0; round < 6; round += 1) {
      await post(stores, `round${round}`, 4, posted);
      await Promise.all(exporters.map((exporter) => exporter.next()));
    }
    await endTurn(stores);
    while ((await exporters[0]!.next()).isMore);
    const lines = [...files.values()].flatMap(([text]) => text?.trimEnd().split("\n") ?? []);
    expect(lines.map((line) => JSON.parse(line).id).toSorted()).toEqual(posted.toSorted());
    for (const [name, contents] of files) expect(contents.size, name).toBe(1);
    expect(files.size).toBeGreaterThan(3);
  });

  test("a process without the turn knows how far the export is", async () => {
    await using stores = await opened(await databases.location());
    const options = { destination: "s3://bucket/", write: async () => {}, format: "jsonl" } as const;
    const [writer, other] = ["proc_a", "proc_b"].map((processId) =>
      ledgerExporter(stores.database, { ...options, processId }),
    );
    await post(stores, "first", 1, []);
    await writer!.next();
    const quietSince = Date.now();
    expect((await other!.next()).exported).toBeGreaterThanOrEqual(quietSince);
    await stores.ledger.post("proc_a", [anEntry("waiting", 1n)]);
    const { sequence } = (await stores.ledger.find("waiting", "charge"))!;
    expect(await other!.next()).toEqual({ exported: sequence! - 1, isMore: false });
  });

  test("a file that was begun is written again in its own format", async () => {
    await using stores = await opened(await databases.location());
    await post(stores, "first", 3, []);
    const files: LedgerFile[] = [];
    const exporter = (processId: string, format: "jsonl" | "parquet", isKilled: boolean) => {
      const write = async (file: LedgerFile): Promise<void> => {
        files.push(file);
        if (isKilled) throw new Error("killed");
      };
      return ledgerExporter(stores.database, { destination: "s3://bucket/", write, format, processId });
    };
    await expect(exporter("proc_a", "jsonl", true).next()).rejects.toThrow("killed");
    await endTurn(stores);
    const next = exporter("proc_b", "parquet", false);
    expect(await next.next()).toMatchObject({ isMore: true });
    expect(files[1]).toEqual(files[0]!);
    await post(stores, "second", 3, []);
    await next.next();
    expect(files.map(({ name }) => name.split(".").at(-1))).toEqual(["jsonl", "jsonl", "parquet"]);
  });

  test("a Parquet file has exact amounts, whole numbers and times", async () => {
    const location = await databases.location();
    await using stores = await opened(location);
    const largest = 2n ** 60n;
    await stores.ledger.post("proc_a", [
      anEntry("large", largest),
      anEntry("small", -1n, { kind: "refund", corrects: "large" }),
    ]);
    const files: LedgerFile[] = [];
    const write = async (file: LedgerFile): Promise<void> => void files.push(file);
    const options = { destination: "s3://bucket/", write, format: "parquet", processId: "a" } as const;
    await ledgerExporter(stores.database, options).next();
    const [{ bytes, name }] = files as [LedgerFile];
    const large = await stores.ledger.find("large", "charge");
    expect(name).toMatch(new RegExp(`^ledger-0-0-\\d{13}-${large!.sequence}\\.parquet$`));
    expect(await parquetReadObjects({ file: bytes.buffer })).toMatchObject([
      {
        id: "large",
        kind: "charge",
        at: new Date(large!.at),
        organization: large!.organizationId,
        sequence: BigInt(large!.sequence!),
        attempts: BigInt(large!.attempts.length),
        corrects: null,
      },
      { id: "small", kind: "refund", corrects: "large" },
    ]);
    expect(await exactAmounts(bytes)).toEqual([largest, -1n]);
  });
});

test("a storage that is away is said once and counted, and gets the entries afterwards", async () => {
  const location = join(folder, "gateway.sqlite");
  await using stores = await opened(location);
  const posted: string[] = [];
  await post(stores, "waiting", 3, posted);
  s3.setDown(true);
  const said: string[] = [];
  await using exporter = runningExport(location, "proc_a", (message) => said.push(message));
  await until("a failure", async () => exporter.failures() || undefined);
  await exporter.stop();
  expect(said).toEqual(["the ledger cannot be exported: entries wait in the database"]);
  expect(s3.objects.size).toBe(0);
  s3.setDown(false);
  await endTurn(stores);
  await using next = runningExport(location, "proc_b");
  await until("all entries", async () => (await idsOf(s3)).length >= posted.length || undefined);
  expect([next.failures(), await idsOf(s3)]).toEqual([0, posted]);
});

test("the same bucket and prefix at another endpoint gets all entries", async () => {
  const location = join(folder, "moved.sqlite");
  await using stores = await opened(location);
  const posted: string[] = [];
  await post(stores, "moved", 3, posted);
  const other = startS3();
  for (const storage of [s3, other]) {
    await using _ = runningExport(location, "proc_a", () => {}, storage.address);
    await until("all entries", async () => (await idsOf(storage)).length >= posted.length || undefined);
    expect(await idsOf(storage)).toEqual(posted);
  }
  await other.stop();
});

/** Returns the exact amounts in the file. The Parquet reader would convert decimals to floating-point numbers. */
async function exactAmounts(bytes: Uint8Array<ArrayBuffer>): Promise<bigint[]> {
  const metadata = parquetMetadata(bytes.buffer);
  const amount = metadata.schema.find(({ name }) => name === "amount");
  expect(amount).toMatchObject({ converted_type: "DECIMAL", precision: 38, scale: 9 });
  delete amount?.converted_type;
  delete amount?.logical_type;
  const options = { file: bytes.buffer, metadata, columns: ["amount"], utf8: false };
  const rows = await parquetReadObjects(options);
  return rows.map((row) => BigInt.asIntN(128, BigInt(`0x${Buffer.from(row["amount"]).toString("hex")}`)));
}

async function opened(location: string): Promise<Stores & AsyncDisposable> {
  const stores = await openStores(location);
  return { ...stores, [Symbol.asyncDispose]: () => stores.database.close() };
}

/** Posts `count` entries one by one, each with its own sequence number. Then posts as many entries together. */
async function post({ ledger }: Stores, name: string, count: number, posted: string[]): Promise<void> {
  const entries = Array.from({ length: 2 * count }, (_, index): LedgerEntry =>
    anEntry(`${name}_${index}`, 1n),
  );
  for (const entry of entries.slice(0, count)) await ledger.post(name, [entry]);
  await ledger.post(name, entries.slice(count));
  posted.push(...entries.map(({ id }) => id));
}

function startExporter(location: string, processId: string) {
  const script = join(import.meta.dir, "ledger-exporter.ts");
  const command = [process.execPath, script, location, s3.address, "jsonl", processId];
  return Bun.spawn(command, { stdout: "ignore", stderr: "inherit" });
}

function runningExport(
  location: string,
  processId: string,
  onProblem: StorageReport = () => {},
  url = s3.address,
) {
  const options = { location, url, format: "jsonl", processId } as const;
  const running = startLedgerExport({ ...options, onProblem });
  return { ...running, [Symbol.asyncDispose]: () => running.stop() };
}

/** Ends the time for which a process has the right to export. */
async function endTurn({ database }: Stores): Promise<void> {
  await database.begin(async (sql) => void (await sql`UPDATE ledger_exports SET until_time = 0`));
}

async function idsOf({ objects }: S3Simulator): Promise<string[]> {
  const texts = [...objects].filter(([name]) => name.startsWith(FOLDER)).map(([, { bytes }]) => bytes);
  return texts.flatMap((bytes) =>
    new TextDecoder()
      .decode(bytes)
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).id),
  );
}
