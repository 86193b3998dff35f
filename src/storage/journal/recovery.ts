import type { LedgerEntry } from "../../domain/ledger.ts";
import type { JournalRecord } from "../../gateway/ports.ts";
import { adoptFolders, type JournalFolder } from "./journal-folder.ts";
import type { LeaseStore } from "../budgets/leases.ts";
import { postEntries, type Posting } from "./posting.ts";
import { replay } from "./segments.ts";

/** Where journals lie and what is needed to finish those of others. */
export interface Recovery extends Posting {
  leases: LeaseStore;
  /** The folder that holds every process's journal folder. */
  root: string;
  /** The running process's own lease, whose folder is left alone. */
  processId: string;
}

const BATCH = 500;

/**
 * Finishes what ended processes left: posts their charges with their leases, the last checkpoint of each request
 * that never ended as a partial charge, then returns their slices and removes the folders. Answers how many
 * entries were posted. Throws when the database does not take them; nothing is lost by trying again.
 */
export async function recoverJournals(recovery: Recovery): Promise<number> {
  const folders = adoptFolders(recovery.root, recovery.processId);
  let count = 0;
  try {
    for (const folder of folders) count += await recoverFolder(recovery, folder);
  } finally {
    for (const folder of folders) folder.release();
  }
  return count;
}

async function recoverFolder(recovery: Recovery, folder: JournalFolder): Promise<number> {
  const onDamaged = (segment: number, offset: number) =>
    recovery.onProblem(
      `journal ${folder.processId} is damaged in segment ${segment} at byte ${offset}`,
      null,
    );
  let count = 0;
  let batch: LedgerEntry[] = [];
  const post = async () => {
    if (batch.length > 0) await postEntries(recovery, folder.processId, batch);
    count += batch.length;
    batch = [];
  };
  for (const record of replay(folder.path, onDamaged)) {
    batch.push(finalEntry(record));
    if (batch.length === BATCH) await post();
  }
  await post();
  await recovery.leases.release(folder.processId);
  await recovery.persist();
  folder.remove();
  return count;
}

/** A checkpoint that nothing followed is all that is known of its request, so it becomes the charge. */
function finalEntry({ type, entry }: JournalRecord): LedgerEntry {
  if (type === "charge" || entry.flags.includes("partial")) return entry;
  return { ...entry, flags: [...entry.flags, "partial"] };
}
