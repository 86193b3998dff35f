import { createReadStream, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { LedgerEntry } from "../../domain/ledger.ts";
import { padded, storeTime } from "../database/expressions.ts";
import type { Database, Sql } from "../database/sql.ts";
import { QUARANTINE } from "../journal/journal-folder.ts";
import { KEPT, keptSegments } from "../journal/kept-segments.ts";
import { REFUSED_FILE } from "../journal/posting.ts";
import { listSegments, readSegment, segmentPath } from "../journal/segments.ts";
import type { LedgerDifference } from "../../admin/ledger/verification-schema.ts";
import { systemClock } from "../../lib/clock.ts";

/** The charges in the journals of one machine, compared with the ledger. */
interface JournalComparison {
  /** Number of charges that are not in the ledger yet, which is normal for a short time. */
  waiting: number;
  /** The charges that have waited too long to be a normal backlog, or whose amount differs from the ledger. */
  differences: LedgerDifference[];
}

const BATCH = 500;

/** Time after which a waiting charge counts as a difference, unless its process is just posting earlier charges. */
const STALE_MS = 5 * 60_000;

interface Journaled {
  processId: string;
  entry: LedgerEntry;
}

/** Compares every journaled charge with the ledger. Only reads, also in the folders of running processes. */
export async function compareJournals(
  kind: Database["kind"],
  sql: Sql,
  root: string,
): Promise<JournalComparison> {
  const comparison: JournalComparison = { waiting: 0, differences: [] };
  const stale = new Map<string, LedgerEntry[]>();
  let batch: Journaled[] = [];
  const compare = async () => {
    if (batch.length > 0) await compareBatch(sql, batch, comparison, stale);
    batch = [];
  };
  const [identity] = await sql<{ ledger: string }[]>`SELECT ledger FROM ledger_identity`;
  for (const charge of journaledCharges(root, identity?.ledger ?? "")) {
    batch.push(charge);
    if (batch.length === BATCH) await compare();
  }
  await compare();
  for (const processId of await processesThatPost(kind, sql)) stale.delete(processId);
  for (const entry of [...stale.values()].flat()) comparison.differences.push(unposted(entry));
  return comparison;
}

function unposted({ id, amount }: LedgerEntry): LedgerDifference {
  return { check: "journal", subject: id, expected: amount, found: null };
}

async function processesThatPost(kind: Database["kind"], sql: Sql): Promise<string[]> {
  const rows = await sql<{ process_id: string }[]>`SELECT process_id FROM journal_marks
    WHERE at > ${storeTime(kind, sql)} - ${STALE_MS}`;
  return rows.map((row) => row.process_id);
}

function* journaledCharges(root: string, ledgerId: string): Generator<Journaled> {
  for (const { processId, path } of keptSegments(root, ledgerId).list())
    for (const entry of chargesOf(path)) yield { processId, entry };
  if (!existsSync(root)) return;
  const folders = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const { name } of folders) {
    if (name === QUARANTINE || name === KEPT) continue;
    for (const path of segmentsOf(join(root, name)))
      for (const entry of chargesOf(path)) yield { processId: name, entry };
  }
}

/**
 * Returns the paths of the segments; none when the folder is gone. A running process removes segments and whole folders
 * at any time after their charges are in the ledger.
 */
function segmentsOf(folder: string): string[] {
  try {
    return listSegments(folder).map((segment) => segmentPath(folder, segment));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

function* chargesOf(path: string): Generator<LedgerEntry> {
  try {
    for (const { record } of readSegment(path, 0, () => {})) if (record.type === "charge") yield record.entry;
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

async function compareBatch(
  sql: Sql,
  charges: readonly Journaled[],
  comparison: JournalComparison,
  stale: Map<string, LedgerEntry[]>,
): Promise<void> {
  const rows = await sql<{ id: string; kind: string; amount: bigint }[]>`
    SELECT id, kind, amount FROM ledger WHERE id IN ${sql(padded(charges.map(({ entry }) => entry.id)))}`;
  const posted = new Map(rows.map(({ id, kind, amount }) => [`${id} ${kind}`, amount]));
  const staleBefore = systemClock.now() - STALE_MS;
  const { differences } = comparison;
  for (const { processId, entry } of charges) {
    const { id, kind, amount, at } = entry;
    const found = posted.get(`${id} ${kind}`);
    if (found === undefined) {
      comparison.waiting += 1;
      if (at < staleBefore) getOrAdd(stale, processId).push(entry);
      continue;
    }
    if (found !== amount) differences.push({ check: "journal", subject: id, expected: amount, found });
    // A journal is posted in order, so charges that still wait before a posted charge were skipped.
    differences.push(...(stale.get(processId) ?? []).map(unposted));
    stale.delete(processId);
  }
}

function getOrAdd(stale: Map<string, LedgerEntry[]>, processId: string): LedgerEntry[] {
  const entries = stale.get(processId) ?? [];
  stale.set(processId, entries);
  return entries;
}

/** Returns the entries that the database has refused permanently. A person has to deal with each of them. */
export async function readRefused(root: string): Promise<LedgerDifference[]> {
  const path = join(root, REFUSED_FILE);
  if (!existsSync(path)) return [];
  const differences: LedgerDifference[] = [];
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    if (line === "") continue;
    const { id, amount } = JSON.parse(line);
    differences.push({ check: "refused", subject: String(id), expected: BigInt(amount), found: null });
  }
  return differences;
}

/** Returns the number of entries that the database has refused permanently. */
export function countRefused(root: string): number {
  const path = join(root, REFUSED_FILE);
  return existsSync(path) ? readFileSync(path, "utf8").split("\n").length - 1 : 0;
}

/** Returns the files in the quarantine. Each file may contain charges, and a person has to look at it. */
export function listQuarantined(root: string): LedgerDifference[] {
  const folder = join(root, QUARANTINE);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .flatMap((processId) => readdirSync(join(folder, processId)).map((name) => `${processId}/${name}`))
    .map((subject) => ({ check: "quarantined", subject, expected: null, found: null }));
}
