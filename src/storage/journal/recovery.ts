import type { LedgerEntry } from "../../domain/ledger.ts";
import { DependencyError, type JournalRecord } from "../../gateway/ports.ts";
import type { LeaseStore } from "../budgets/leases.ts";
import { adoptFolders, type JournalFolder } from "./journal-folder.ts";
import type { Report } from "../report.ts";
import type { LedgerWriter } from "./posting.ts";
import { RecordLines } from "./record-line.ts";
import { replay, segmentName } from "./segments.ts";

/** Finishes what processes that have ended left in their journals. */
export interface Recovery {
  /**
   * Posts the charges of each such journal, the last checkpoint of each request that never ended as a partial
   * charge, then returns the process's budget leases and removes the folder. Throws a `DependencyError` when the
   * database is away; nothing is lost by trying again.
   */
  run(): Promise<void>;
  /** Charges of other processes posted since the start of this one. */
  recovered(): number;
}

interface RecoveryOptions {
  writer: LedgerWriter;
  /** Returns once all that was posted survives a loss of power. */
  persist(): Promise<void>;
  onProblem: Report;
  leases: LeaseStore;
  /** Called for each process whose journal is posted: it runs nothing any more. */
  onEnded(processId: string): Promise<void>;
  /** The folder that holds every process's journal folder. */
  root: string;
  /** The running process, whose own folder is left alone. */
  processId: string;
}

const BATCH = 500;

export function createRecovery(options: RecoveryOptions): Recovery {
  const { root, processId: own, onProblem } = options;
  /** Journals whose trouble is in the log already: each is tried again every few seconds. */
  const reported = new Set<string>();
  const report = (processId: string, cause: unknown) => {
    if (reported.has(processId)) return;
    reported.add(processId);
    onProblem(`the journal of ${processId} cannot be taken over; its charges wait`, cause);
  };
  let recovered = 0;
  return {
    recovered: () => recovered,
    async run() {
      const folders = adoptFolders(root, own, report);
      try {
        for (const folder of folders) {
          try {
            const count = await recoverFolder(options, folder);
            recovered += count;
            onProblem(
              `took over the journal of ${folder.processId}: ${count} charges, of which those that were not in the ledger are posted`,
              null,
              "info",
            );
          } catch (error) {
            if (error instanceof DependencyError) throw error;
            report(folder.processId, error);
          }
        }
      } finally {
        for (const folder of folders) folder.release();
      }
    },
  };
}

async function recoverFolder(options: RecoveryOptions, folder: JournalFolder): Promise<number> {
  const { onProblem, leases } = options;
  const { processId } = folder;
  const damaged = new Set<number>();
  const onDamaged = (segment: number, offset: number, cause: unknown) => {
    damaged.add(segment);
    onProblem(`the journal of ${processId} is damaged in segment ${segment} at byte ${offset}`, cause);
  };
  let count = 0;
  const batch = new RecordLines();
  const post = async () => {
    if (batch.count > 0) await options.writer.post(processId, batch.bytes);
    count += batch.count;
    batch.clear();
  };
  for (const record of replay(folder.path, onDamaged)) {
    batch.write({ type: "charge", entry: finalEntry(record) });
    if (batch.count === BATCH) await post();
  }
  await post();
  await leases.release(processId);
  await options.onEnded(processId);
  await options.persist();
  for (const segment of damaged) folder.quarantine(segmentName(segment));
  for (const name of folder.remove())
    onProblem(`moved ${name}, which is no part of the journal of ${processId}, to the quarantine`, null);
  return count;
}

/** A checkpoint that nothing followed is all that is known of its request, so it becomes the charge. */
function finalEntry({ type, entry }: JournalRecord): LedgerEntry {
  if (type === "charge" || entry.flags.includes("partial")) return entry;
  return { ...entry, flags: [...entry.flags, "partial"] };
}
