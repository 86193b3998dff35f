import { createReadStream, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { LedgerDifference } from "../../admin/ledger-ports.ts";
import type { LedgerEntry } from "../../domain/ledger.ts";
import { padded } from "../budgets/locked-budgets.ts";
import type { Sql } from "../database/sql.ts";
import { QUARANTINE } from "../journal/journal-folder.ts";
import { REFUSED_FILE } from "../journal/posting.ts";
import { listSegments, readSegment, segmentPath } from "../journal/segments.ts";

/** What the journals of one machine hold beside the ledger. */
interface JournalComparison {
  /** Charges that are not in the ledger yet; normal while processes run. */
  waiting: number;
  differences: LedgerDifference[];
}

const BATCH = 500;

/** Compares every journaled charge with the ledger. Reads only, also in the folders of running processes. */
export async function compareJournals(sql: Sql, root: string): Promise<JournalComparison> {
  const comparison: JournalComparison = { waiting: 0, differences: [] };
  let batch: LedgerEntry[] = [];
  const compare = async () => {
    if (batch.length > 0) await compareBatch(sql, batch, comparison);
    batch = [];
  };
  for (const entry of journaledCharges(root)) {
    batch.push(entry);
    if (batch.length === BATCH) await compare();
  }
  await compare();
  return comparison;
}

function* journaledCharges(root: string): Generator<LedgerEntry> {
  if (!existsSync(root)) return;
  const folders = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const { name } of folders) {
    if (name === QUARANTINE) continue;
    const folder = join(root, name);
    for (const path of segmentsOf(folder)) yield* chargesOf(path);
  }
}

/** A running process removes segments and whole folders at any time, once all in them is in the ledger. */
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
  charges: readonly LedgerEntry[],
  comparison: JournalComparison,
): Promise<void> {
  const rows = await sql<{ id: string; kind: string; amount: bigint }[]>`
    SELECT id, kind, amount FROM ledger WHERE id IN ${sql(padded(charges.map(({ id }) => id)))}`;
  const posted = new Map(rows.map(({ id, kind, amount }) => [`${id} ${kind}`, amount]));
  for (const { id, kind, amount } of charges) {
    const found = posted.get(`${id} ${kind}`);
    if (found === undefined) comparison.waiting += 1;
    else if (found !== amount)
      comparison.differences.push({ check: "journal", subject: id, expected: amount, found });
  }
}

/** Entries that the database has refused for good; each waits for a person. */
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

/** How many of them there are. */
export function countRefused(root: string): number {
  const path = join(root, REFUSED_FILE);
  return existsSync(path) ? readFileSync(path, "utf8").split("\n").length - 1 : 0;
}

/** Files of journals that were not understood; each may hold charges and waits for a person. */
export function listQuarantined(root: string): LedgerDifference[] {
  const folder = join(root, QUARANTINE);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .flatMap((processId) => readdirSync(join(folder, processId)).map((name) => `${processId}/${name}`))
    .map((subject) => ({ check: "quarantined", subject, expected: null, found: null }));
}
