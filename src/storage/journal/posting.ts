import { appendFileSync } from "node:fs";
import type { LedgerEntry } from "../../domain/ledger.ts";
import { toColumn } from "../database/expressions.ts";
import type { StorageReport } from "../report.ts";
import type { LedgerStore } from "../tables/ledger.ts";
import { isRefusal } from "../database/unavailable.ts";
import type { JournalMarks } from "../tables/journal-marks.ts";
import { readEntries, RecordLines } from "./record-line.ts";

/** Name of the file with entries that the database refuses permanently. The file is in the folder of all journals. */
export const REFUSED_FILE = "refused.log";

/** Posts journaled charges to the ledger. */
export interface LedgerWriter {
  /**
   * Books the charges in complete lines of a process's journal, then marks the batch as posted if the batch has a
   * number. Returns the number of charges that the ledger did not have. Throws when the charges must be posted again
   * later; posting again does no harm.
   */
  post(processId: string, lines: Uint8Array, batch?: number): Promise<number>;
}

/** The ledger to which journaled entries are posted, and the file for entries that no ledger accepts. */
export interface Posting {
  ledger: Pick<LedgerStore, "post">;
  marks: Pick<JournalMarks, "raise">;
  /** Path of the file of refused entries, one JSON line each. A person has to deal with these entries. */
  refusedPath: string;
  onProblem: StorageReport;
}

/** Returns a writer that posts on the calling thread. */
export function directWriter(posting: Posting): LedgerWriter {
  return {
    async post(processId, lines, batch) {
      const added = await postEntries(posting, processId, readEntries(lines));
      if (batch !== undefined) await posting.marks.raise(processId, batch);
      return added;
    },
  };
}

/**
 * Posts entries together. If the database refuses the batch because of its data, posts each entry alone, so that one
 * impossible entry does not delay the other entries. Returns the number of new entries. Throws when the entries must be
 * posted again later.
 */
export async function postEntries(
  posting: Omit<Posting, "marks">,
  processId: string,
  entries: readonly LedgerEntry[],
): Promise<number> {
  try {
    return await posting.ledger.post(processId, entries);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    if (entries.length === 1) {
      refuse(posting, entries, error);
      return 0;
    }
  }
  let added = 0;
  for (const entry of entries) added += await postEntries(posting, processId, [entry]);
  return added;
}

const BATCH = 500;

/** Posts any number of entries of a process in batches. Returns the number of entries and the number of new entries. */
export async function postAll(
  writer: LedgerWriter,
  processId: string,
  entries: Iterable<LedgerEntry>,
): Promise<{ count: number; added: number }> {
  const lines = new RecordLines();
  const total = { count: 0, added: 0 };
  const post = async () => {
    if (lines.count > 0) total.added += await writer.post(processId, lines.bytes);
    total.count += lines.count;
    lines.clear();
  };
  for (const entry of entries) {
    lines.write({ type: "charge", entry });
    if (lines.count === BATCH) await post();
  }
  await post();
  return total;
}

function refuse(posting: Omit<Posting, "marks">, entries: readonly LedgerEntry[], error: unknown): void {
  for (const entry of entries) appendFileSync(posting.refusedPath, `${toColumn(entry)}\n`, { mode: 0o600 });
  posting.onProblem("the database refused a ledger entry; it was put aside", error);
}
