import { existsSync } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import type { LedgerAdminStore, LedgerArchive, LedgerPosition } from "../../admin/ledger/store-port.ts";
import type { LedgerEntry } from "../../domain/ledger.ts";
import type { Progress } from "../../lib/progress.ts";
import type { Nanos } from "../../lib/money.ts";
import { type Integer, padded, storeTime } from "../database/expressions.ts";
import type { Database, Sql } from "../database/sql.ts";
import type { Row } from "../database/table.ts";
import {
  addEntry,
  fileHash,
  readEntries,
  readManifest,
  writeEntries,
  writeManifest,
  type EntrySums,
  type ArchiveManifest,
} from "./archive-file.ts";
import { makeChange } from "./change.ts";
import { readEntryRow } from "./booking.ts";
import { ARCHIVED } from "./verification.ts";

/**
 * Moves months of the ledger to files. Removes only entries that it reads from a verified file. So each entry is in the
 * ledger or in a file, even after an interruption. Entries of the month that reach the ledger later get a file of their
 * own. A month stays in the ledger while a ledger export has not written all its entries.
 */
export function archiveStore(database: Database): Pick<LedgerAdminStore, "oldestMonth" | "archive"> {
  return {
    async oldestMonth(folder) {
      const [row] = await database.read(
        (sql) => sql<{ at: Integer | null }[]>`SELECT MIN(at) AS at FROM ledger`,
      );
      const months = await unfinishedMonths(folder);
      if (row && row.at !== null) months.push(new Date(Number(row.at)).toISOString().slice(0, 7));
      return months.toSorted()[0] ?? null;
    },
    async archive(month, folder, by, onProgress = () => {}) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      for (let part = 1; ; part += 1) {
        const name = part === 1 ? `ledger-${month}` : `ledger-${month}-${part}`;
        const manifestPath = join(folder, `${name}.json`);
        const existing = await readManifest(manifestPath);
        if (existing?.isRemoved) continue;
        await requireExported(database, month);
        const manifest =
          existing ?? (await writeMonth(database, month, join(folder, `${name}.jsonl.gz`), onProgress));
        if (!manifest) return null;
        if (!existing) await writeManifest(manifestPath, manifest);
        // The file may contain entries that were posted after the first check.
        await requireExported(database, month);
        await removeArchived(database, join(folder, manifest.file), manifest, onProgress);
        const { isRemoved: _, ...archive } = manifest;
        const change = { by, kind: "ledger", action: "archive", subject: month } as const;
        await makeChange(database, change, async () => ({ before: null, after: archive }));
        await writeManifest(manifestPath, { ...archive, isRemoved: true });
        return archive;
      }
    },
  };
}

/** Returns the months whose removal was interrupted, including months that have no entries left. */
async function unfinishedMonths(folder: string): Promise<string[]> {
  if (!existsSync(folder)) return [];
  const names = (await readdir(folder)).filter((name) => /^ledger-.*\.json$/.test(name));
  const manifests = await Promise.all(names.map((name) => readManifest(join(folder, name))));
  return manifests.flatMap((manifest) => (manifest && !manifest.isRemoved ? [manifest.month] : []));
}

const EXPORT_ENDED_MS = 7 * 24 * 60 * 60_000;

/**
 * Throws when a ledger export (`ledger_exports`) has not written all entries of the month to complete files. Exports
 * that no process has run for a week are ignored.
 */
async function requireExported(database: Database, month: string): Promise<void> {
  const { from, to } = rangeOf(month);
  const [waiting] = await database.readConsistently(
    (sql) => sql<{ destination: string }[]>`SELECT destination FROM ledger_exports
      WHERE until_time > ${storeTime(database.kind, sql)} - ${EXPORT_ENDED_MS} AND EXISTS
        (SELECT 1 FROM ledger WHERE at >= ${from} AND at < ${to} AND sequence > exported)`,
  );
  if (waiting)
    throw new Error(
      `entries of ${month} are not in the files at ${waiting.destination} yet; nothing was removed. Wait for the export, or for a week after it has ended`,
    );
}

function rangeOf(month: string): { from: number; to: number } {
  const from = Date.parse(`${month}-01T00:00:00Z`);
  return { from, to: new Date(from).setUTCMonth(new Date(from).getUTCMonth() + 1) };
}

const PAGE = 1000;
/** Maximum number of entries removed in one transaction, so that charges wait only milliseconds. */
const REMOVED_AT_ONCE = 200;

/** Writes a consistent state of a month to a file, and checks the file against the database's own sums. */
async function writeMonth(
  database: Database,
  month: string,
  path: string,
  onProgress: Progress,
): Promise<ArchiveManifest | null> {
  const { from, to } = rangeOf(month);
  return await database.readConsistently(async (sql) => {
    const expected = await sumsOf(sql, from, to);
    if (expected.entries === 0) return null;
    const report = (done: number) => onProgress(`Writing ${month}.`, done, expected.entries);
    const sha256 = await writeEntries(path, counted(entriesOf(sql, from, to), report));
    const found: EntrySums = { entries: 0, sums: {} };
    for await (const page of readEntries(path, PAGE)) for (const entry of page) addEntry(found, entry);
    if (!Bun.deepEquals(found, expected) || (await fileHash(path)) !== sha256)
      throw new Error(`${path} does not have what the ledger has; nothing was removed`);
    return { month, file: basename(path), ...found, sha256, isRemoved: false };
  });
}

/** Yields the pages unchanged. Before each page, reports the number of entries in the earlier pages. */
async function* counted(
  pages: AsyncIterable<LedgerEntry[]>,
  report: (done: number) => void,
): AsyncGenerator<LedgerEntry[]> {
  let done = 0;
  for await (const page of pages) {
    report(done);
    yield page;
    done += page.length;
  }
}

async function sumsOf(sql: Sql, from: number, to: number): Promise<EntrySums> {
  const rows = await sql<{ currency: string; kind: LedgerEntry["kind"]; count: Integer; sum: string }[]>`
    SELECT currency, kind, COUNT(*) AS count, CAST(SUM(amount) AS TEXT) AS sum FROM ledger
      WHERE at >= ${from} AND at < ${to} GROUP BY currency, kind`;
  const sums: LedgerArchive["sums"] = {};
  for (const { currency, kind, sum } of rows) (sums[currency] ??= {})[kind] = BigInt(sum);
  return { entries: rows.reduce((count, row) => count + Number(row.count), 0), sums };
}

async function* entriesOf(sql: Sql, from: number, to: number): AsyncGenerator<LedgerEntry[]> {
  let last: LedgerPosition = { at: from, id: "" };
  for (;;) {
    // Entries of different kinds may share one id, so a page must end between two ids.
    const rows = await sql<Row[]>`SELECT * FROM ledger
      WHERE (at, id) > (${last.at}, ${last.id}) AND at < ${to} ORDER BY at, id, kind LIMIT ${PAGE}`;
    const entries = rows.map(readEntryRow);
    const end = entries.at(-1);
    if (!end) return;
    const isLast = rows.length < PAGE;
    const whole = isLast ? entries : entries.filter(({ id }) => id !== end.id);
    yield whole;
    if (isLast) return;
    last = whole.at(-1) ?? end;
  }
}

/**
 * Removes the entries of a verified file. Skips entries that an earlier run has removed. When `onProgress` throws, the
 * next run continues the work.
 */
async function removeArchived(
  database: Database,
  path: string,
  { month, sha256, entries: total }: ArchiveManifest,
  onProgress: Progress,
): Promise<void> {
  if ((await fileHash(path)) !== sha256)
    throw new Error(`${path} has changed since it was verified; nothing more was removed`);
  const report = (done: number) => onProgress(`Removing ${month} from the ledger.`, done, total);
  for await (const entries of counted(readEntries(path, REMOVED_AT_ONCE), report))
    await database.begin((sql) => removeEntries(sql, entries));
}

/**
 * Removes entries. The sum of a budget's bookings stays the same, because one booking replaces all archived bookings.
 */
async function removeEntries(sql: Sql, entries: readonly LedgerEntry[]): Promise<void> {
  for (const [kind, ofKind] of Map.groupBy(entries, (entry) => entry.kind)) {
    const ids = padded(ofKind.map(({ id }) => id));
    await sql`DELETE FROM ledger WHERE kind = ${kind} AND id IN ${sql(ids)}`;
    for (const budget of new Set(ofKind.flatMap(({ budgets }) => budgets))) {
      const removed = await sql<{ amount: bigint }[]>`DELETE FROM ledger_bookings
        WHERE budget = ${budget} AND kind = ${kind} AND entry IN ${sql(ids)} RETURNING amount`;
      const sum = removed.reduce((total: Nanos, { amount }) => total + amount, 0n);
      if (removed.length > 0)
        await sql`INSERT INTO ledger_bookings (budget, entry, kind, amount)
          VALUES (${budget}, ${ARCHIVED}, ${ARCHIVED}, ${sum})
          ON CONFLICT (budget, entry, kind) DO UPDATE SET amount = ledger_bookings.amount + excluded.amount`;
    }
  }
}
