import type { LedgerEntry } from "../../domain/ledger.ts";
import { readableSequence } from "../database/ledger-sequence.ts";
import type { Database } from "../database/sql.ts";
import { ledgerStore, type LedgerStore } from "../tables/ledger.ts";
import { cursorStore } from "./cursor.ts";
import { type LedgerFile, type LedgerFileFormat, fileOf } from "./files.ts";

/** A destination of files. */
export interface ExportTarget {
  /** Bucket and prefix. */
  destination: string;
  /** Writes a file; one of the same name is replaced. */
  write(file: LedgerFile): Promise<void>;
}

interface ExportOptions extends ExportTarget {
  format: LedgerFileFormat;
  processId: string;
  /** Entries of a file; those of one transaction stay together, so it may be more. */
  maxEntries?: number;
}

/** The result of one step. */
export interface ExportStep {
  /** All entries up to this number, a time in Unix milliseconds, are in files. */
  exported: number;
  /** False where everything is exported, or another process has the turn. */
  isMore: boolean;
}

/** A file takes seconds; a process that was killed is replaced after this time. */
const TURN_MS = 3 * 60_000;
const MAX_ENTRIES = 20_000;
const PAGE = 1_000;

/**
 * Writes the next file of posted entries, if there are any. Before it is written, the database knows its last number, and
 * only afterwards the cursor moves: after a kill between the two the same file is written again, with the same name
 * and content. So each entry is in exactly one file of a destination, whoever writes it.
 */
export async function exportNext(database: Database, options: ExportOptions): Promise<ExportStep> {
  const { destination, write, format, processId, maxEntries = MAX_ENTRIES } = options;
  const cursors = cursorStore(database, destination);
  const cursor = await cursors.takeTurn(processId, TURN_MS);
  if (!cursor) return { exported: (await cursors.read()).exported, isMore: false };
  const { exported } = cursor;
  const ledger = ledgerStore(database);
  const upTo = cursor.writing ?? (await readableSequence(database));
  const most = cursor.writing === null ? maxEntries : Infinity;
  const { entries, last } = await readPosted(ledger, exported, upTo, most);
  if (entries.length === 0) {
    const isMoved = upTo > exported && (await cursors.advance(cursor, upTo));
    return { exported: isMoved ? upTo : exported, isMore: false };
  }
  if (cursor.writing === null && !(await cursors.begin(exported, last))) return { exported, isMore: false };
  await write(fileOf(entries, format));
  if (!(await cursors.advance({ exported, writing: last }, last))) return { exported, isMore: false };
  return { exported: last, isMore: last < upTo || cursor.writing !== null };
}

/**
 * Entries behind a number, up to another one or to the end of the transaction with the last of so many; `last` is the
 * number up to which all are there.
 */
async function readPosted(
  ledger: LedgerStore,
  after: number,
  upTo: number,
  most: number,
): Promise<{ entries: LedgerEntry[]; last: number }> {
  const entries: LedgerEntry[] = [];
  let position = { sequence: after + 1, id: "", kind: "" };
  let end = upTo;
  for (;;) {
    const page = await ledger.listPosted({ after: position, upTo: end, limit: PAGE });
    entries.push(...page);
    const final = page.at(-1);
    if (!final || page.length < PAGE) return { entries, last: end };
    position = { sequence: final.sequence ?? end, id: final.id, kind: final.kind };
    // Entries that were posted together stay together.
    if (entries.length >= most) end = position.sequence;
  }
}
