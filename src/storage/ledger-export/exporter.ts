import type { LedgerEntry } from "../../domain/ledger.ts";
import { systemClock } from "../../lib/clock.ts";
import { readableSequence } from "../database/ledger-sequence.ts";
import type { Database } from "../database/sql.ts";
import { ledgerStore, type LedgerStore } from "../tables/ledger.ts";
import { cursorStore } from "./cursor.ts";
import { type LedgerFile, type LedgerFileFormat, fileOf } from "./files.ts";

/** A storage to which files are written. */
export interface ExportTarget {
  /** Name of the storage and the prefix. It contains no secret. */
  destination: string;
  /** Writes a file, and replaces a file with the same name. */
  write(file: LedgerFile): Promise<void>;
}

interface ExportOptions extends ExportTarget {
  format: LedgerFileFormat;
  processId: string;
  /** Number of entries in a file. A file may have more entries, because entries of one transaction stay in one file. */
  maxEntries?: number;
}

export interface ExportStep {
  /** Files contain all entries up to this sequence number, which is a time in Unix milliseconds. */
  exported: number;
  /**
   * True when the next step may write another file. False when all is exported, when another process may write, or when
   * the cursor has changed.
   */
  isMore: boolean;
}

/** The part of a ledger export that one process does. */
export interface LedgerExporter {
  next(): Promise<ExportStep>;
  /** Gives up the right to write files, so that another process can take this right. */
  leave(): Promise<void>;
}

/**
 * Time for which a process has the right to write. Writing a file takes seconds. After a process was killed, another
 * process takes over when this time has passed.
 */
const TURN_MS = 3 * 60_000;
const MAX_ENTRIES = 20_000;
const PAGE = 1_000;

/**
 * Exports posted entries file by file. First the name of a file is stored, then the file is written, then the cursor
 * moves. If the process is killed in between, the same file is written again, with the same name and content. A
 * database that was restored from a backup does not know the newest files. Therefore a new epoch begins when another
 * process takes the right to write, and when a process finds the cursor changed. The name of a file contains two
 * positions, each with an epoch and a number: the end of the previous file and the end of the file itself. Readers
 * follow these positions back from the highest epoch, and ignore files that the database does not know.
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

/** Returns the step of a process that does not have the right to write. */
async function otherStep(ledger: LedgerStore, exported: number): Promise<ExportStep> {
  const page = { after: positionAfter(exported), upTo: Number.MAX_SAFE_INTEGER, limit: 1 };
  const [waiting] = await ledger.listPosted(page);
  return { exported: waiting?.sequence ? waiting.sequence - 1 : systemClock.now(), isMore: false };
}

/**
 * Returns the entries after the number `after` and up to `upTo`. After `most` entries, stops at the end of the
 * transaction of the last entry.
 */
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
    // Entries of one transaction stay in one file.
    if (entries.length >= most) end = position.sequence;
  }
}

function positionAfter(sequence: number) {
  return { sequence: sequence + 1, id: "", kind: "" };
}
