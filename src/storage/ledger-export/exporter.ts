import type { LedgerEntry } from "../../domain/ledger.ts";
import { systemClock } from "../../lib/clock.ts";
import { readableSequence } from "../database/ledger-sequence.ts";
import type { Database } from "../database/sql.ts";
import { ledgerStore, type LedgerStore } from "../tables/ledger.ts";
import { cursorStore } from "./cursor.ts";
import { type LedgerFile, type LedgerFileFormat, fileOf } from "./files.ts";

/** A destination of files. */
export interface ExportTarget {
  /** Names the storage and the prefix, and no secret. */
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

/** The export of one process. */
export interface LedgerExporter {
  next(): Promise<ExportStep>;
  /** Leaves the turn to other processes. */
  leave(): Promise<void>;
}

/** A file takes seconds; a process that was killed is replaced after this time. */
const TURN_MS = 3 * 60_000;
const MAX_ENTRIES = 20_000;
const PAGE = 1_000;

/**
 * Writes posted entries file by file. Before a file is written, the database knows its name, and only afterwards the
 * cursor moves: after a kill between the two the same file is written again, with the same name and content.
 *
 * A database that went back in time has forgotten files. So each process that takes the turn begins a new epoch, and so
 * does one that finds the cursor changed. A name has the epochs and numbers of the end of the file before and of its own
 * end: readers follow them back from the highest epoch, and leave out what the database has forgotten.
 */
export function ledgerExporter(database: Database, options: ExportOptions): LedgerExporter {
  const { destination, write, format, processId, maxEntries = MAX_ENTRIES } = options;
  const cursors = cursorStore(database, destination, processId);
  const ledger = ledgerStore(database);
  return {
    async next() {
      const cursor = await cursors.takeTurn(TURN_MS);
      if (!cursor) return await otherStep(ledger, await cursors.exported());
      const { epoch, exported, begun } = cursor;
      const before = { exported: exported.last, isMore: false };
      const upTo = begun?.last ?? (await readableSequence(database));
      const most = begun ? Infinity : maxEntries;
      const entries = await readPosted(ledger, { after: exported.last, upTo, most });
      const last = entries.at(-1)?.sequence;
      if (!begun && last === undefined) return { exported: upTo, isMore: false };
      const file = begun ?? { epoch, last: last ?? upTo, format };
      if (!begun && !(await cursors.begin(cursor, file))) return before;
      if (entries.length > 0) await write(fileOf(entries, exported, file));
      if (!(await cursors.advance(cursor, file))) return before;
      const isMore = begun !== null || entries.length >= maxEntries;
      return { exported: isMore ? file.last : upTo, isMore };
    },
    leave: () => cursors.leaveTurn(),
  };
}

/** The step of a process that has not got the turn. */
async function otherStep(ledger: LedgerStore, exported: number): Promise<ExportStep> {
  const page = { after: positionAfter(exported), upTo: Number.MAX_SAFE_INTEGER, limit: 1 };
  const [waiting] = await ledger.listPosted(page);
  return { exported: waiting?.sequence ? waiting.sequence - 1 : systemClock.now(), isMore: false };
}

/** Entries behind a number, up to another one or to the end of the transaction with the last of so many. */
async function readPosted(
  ledger: LedgerStore,
  { after, upTo, most }: { after: number; upTo: number; most: number },
): Promise<LedgerEntry[]> {
  const entries: LedgerEntry[] = [];
  let position = positionAfter(after);
  let end = upTo;
  for (;;) {
    const page = await ledger.listPosted({ after: position, upTo: end, limit: PAGE });
    entries.push(...page);
    const final = page.at(-1);
    if (!final || page.length < PAGE) return entries;
    position = { sequence: final.sequence ?? end, id: final.id, kind: final.kind };
    // Entries that were posted together stay together.
    if (entries.length >= most) end = position.sequence;
  }
}

function positionAfter(sequence: number) {
  return { sequence: sequence + 1, id: "", kind: "" };
}
