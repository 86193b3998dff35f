import { appendFileSync } from "node:fs";
import type { LedgerEntry } from "../../domain/ledger.ts";
import { toColumn } from "../database/columns.ts";
import type { Report } from "../report.ts";
import type { LedgerStore } from "../stores/ledger.ts";
import { isRefusal } from "../database/unavailable.ts";
import { readEntries } from "./record-line.ts";

/** Name of the file, in the folder of all journals, that keeps entries the database refuses for good. */
export const REFUSED_FILE = "refused.log";

/** Takes journaled charges into the ledger. */
export interface LedgerWriter {
  /**
   * Books the charges of whole lines of a process's journal. Throws when they must be posted again later; posting
   * again changes nothing.
   */
  post(processId: string, lines: Uint8Array): Promise<void>;
}

/** Where journaled entries go, and where those are kept that no ledger can take. */
export interface Posting {
  ledger: Pick<LedgerStore, "post">;
  /** The file of refused entries: one JSON line each, until a person has dealt with them. */
  refusedPath: string;
  onProblem: Report;
}

/** Writes on this very thread. */
export function directWriter(posting: Posting): LedgerWriter {
  return { post: (processId, lines) => postEntries(posting, processId, readEntries(lines)) };
}

/**
 * Posts entries together. When the database refuses the batch for its data, each is tried alone, so that one
 * impossible entry delays no other. Throws when they must be posted again later.
 */
export async function postEntries(
  posting: Posting,
  processId: string,
  entries: readonly LedgerEntry[],
): Promise<void> {
  try {
    await posting.ledger.post(processId, entries);
    return;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    if (entries.length === 1) return refuse(posting, entries, error);
  }
  for (const entry of entries) await postEntries(posting, processId, [entry]);
}

function refuse(posting: Posting, entries: readonly LedgerEntry[], error: unknown): void {
  for (const entry of entries) appendFileSync(posting.refusedPath, `${toColumn(entry)}\n`, { mode: 0o600 });
  posting.onProblem("the database refused a ledger entry; it was put aside", error);
}
