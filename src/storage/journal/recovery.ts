import { existsSync } from "node:fs";
import { join } from "node:path";
import type { LedgerEntry } from "../../domain/ledger.ts";
import { DependencyError } from "../../gateway/dependency-error.ts";
import type { JournalRecord } from "../../gateway/metering/stores.ts";
import type { LeaseStore } from "../budgets/leases.ts";
import type { StorageReport } from "../report.ts";
import type { JournalMarks } from "../tables/journal-marks.ts";
import { adoptFolders, lastPosted, type JournalFolder } from "./journal-folder.ts";
import type { KeptSegment, KeptSegments } from "./kept-segments.ts";
import { WENT_BACK } from "./lost-charges.ts";
import { postAll, type LedgerWriter } from "./posting.ts";
import { listSegments, replay, segmentFiles, segmentName } from "./segments.ts";
import { countText } from "../../lib/count-text.ts";

/** Posts the journals of ended processes. */
export interface Recovery {
  /**
   * For each journal of an ended process: posts its charges, posts the last checkpoint of each unfinished request as a
   * partial charge, returns the process's budget leases, and moves the segments to the kept segments. If the database
   * was set back to an earlier state, posts kept segments again. Removes old kept segments. Throws a `DependencyError`
   * when the database is unavailable; a later run repeats everything without harm.
   */
  run(): Promise<void>;
  /** Returns the number of charges in the journals that this process has taken over. */
  recovered(): number;
  /** Returns the number of other processes' charges that the database had lost and that were posted again. */
  restored(): number;
}

interface RecoveryOptions {
  writer: LedgerWriter;
  marks: JournalMarks;
  kept: KeptSegments;
  /** Resolves when everything posted so far would survive a loss of power. */
  persist(): Promise<void>;
  /** Throws a `DependencyError` when the database may lose posted charges, so that the segments must be kept. */
  verifyDatabase(): void;
  onProblem: StorageReport;
  leases: LeaseStore;
  /** Called for each ended process whose journal is posted. */
  onEnded(processId: string): Promise<void>;
  /** The folder that contains the journal folders of all processes. */
  root: string;
  /** The running process. Its own folder is ignored. */
  processId: string;
}

export function createRecovery(options: RecoveryOptions): Recovery {
  const { root, processId: own, onProblem } = options;
  /** Journals whose problem is in the log already. Each journal is tried again every few seconds. */
  const reported = new Set<string>();
  const report = (processId: string, cause: unknown) => {
    if (reported.has(processId)) return;
    reported.add(processId);
    onProblem(`the journal of ${processId} cannot be taken over; its charges wait`, cause);
  };
  let recovered = 0;
  let restored = 0;
  return {
    recovered: () => recovered,
    restored: () => restored,
    async run() {
      const folders = adoptFolders(root, own, report);
      try {
        for (const folder of folders) {
          try {
            const { count, lost } = await recoverFolder(options, folder);
            recovered += count;
            restored += lost;
            onProblem(
              `took over the journal of ${folder.processId}: ${countText(count, "charge")}, posted unless in the ledger already`,
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
      restored += await restoreKept(options);
    },
  };
}

/**
 * Posts the journal in a folder. Returns its number of charges; if the database went back, also the number of new ones.
 */
async function recoverFolder(options: RecoveryOptions, folder: JournalFolder) {
  const { onProblem, kept, marks } = options;
  const { processId, path } = folder;
  const damaged = new Set<number>();
  const onDamaged = (segment: number, offset: number, cause: unknown) => {
    damaged.add(segment);
    onProblem(`the journal of ${processId} is damaged in segment ${segment} at byte ${offset}`, cause);
  };
  const aside = kept.list(processId);
  const last = Math.max(lastBatchOf(aside), lastPosted(path));
  const posted = (await marks.read([processId])).get(processId) ?? 0;
  const wentBack = posted < last;
  const segments = [...(wentBack ? aside : []), ...segmentFiles(path)];
  if (wentBack) onProblem(WENT_BACK, null);
  const { count, added } = await finish(options, processId, replay(segments, onDamaged));
  if (wentBack) reportLost(options, processId, added);
  const batch = Math.max(posted, last) + 1;
  await marks.set(processId, batch);
  await options.persist();
  for (const segment of damaged) folder.quarantine(segmentName(segment));
  kept.keep(path, processId, listSegments(path), batch);
  for (const name of folder.remove())
    onProblem(`moved ${name}, which is no part of the journal of ${processId}, to the quarantine`, null);
  return { count, lost: wentBack ? added : 0 };
}

function reportLost({ onProblem }: RecoveryOptions, processId: string, count: number): void {
  onProblem(
    `posted ${countText(count, "charge")} of ${processId} again that the database had lost`,
    null,
    "info",
  );
}

/** Posts the charges of an ended process and frees the money that it held. */
async function finish(options: RecoveryOptions, processId: string, records: Iterable<JournalRecord>) {
  const total = await postAll(options.writer, processId, entriesOf(records));
  await options.leases.release(processId);
  await options.onEnded(processId);
  return total;
}

/**
 * Posts the kept segments of ended processes again when the database has gone back to an earlier state, and removes old
 * kept segments. Returns the number of charges that the database had lost.
 */
async function restoreKept(options: RecoveryOptions): Promise<number> {
  const { kept, marks, root, onProblem } = options;
  const byProcess = Map.groupBy(kept.list(), ({ processId }) => processId);
  const posted = await marks.read([...byProcess.keys()]);
  let restored = 0;
  for (const [processId, segments] of byProcess) {
    const last = lastBatchOf(segments);
    // A running process posts its own segments again.
    if (existsSync(join(root, processId)) || (posted.get(processId) ?? 0) >= last) continue;
    onProblem(WENT_BACK, null);
    const { added } = await finish(
      options,
      processId,
      replay(segments, () => {}),
    );
    await marks.set(processId, last);
    posted.set(processId, last);
    restored += added;
    reportLost(options, processId, added);
  }
  options.verifyDatabase();
  const emptied = kept.sweep(({ processId, batch }) => (posted.get(processId) ?? 0) >= batch);
  await marks.remove(emptied.filter((processId) => !existsSync(join(root, processId))));
  return restored;
}

function lastBatchOf(segments: readonly KeptSegment[]): number {
  return Math.max(0, ...segments.map(({ batch }) => batch));
}

/** Yields the charges. A checkpoint without a charge becomes a partial charge: nothing else is known of its request. */
function* entriesOf(records: Iterable<JournalRecord>): Generator<LedgerEntry> {
  for (const { type, entry } of records)
    yield type === "charge" || entry.flags.includes("partial")
      ? entry
      : { ...entry, flags: [...entry.flags, "partial"] };
}
