import type { LedgerEntry } from "../../domain/ledger.ts";
import type { Clock } from "../../lib/clock.ts";
import type { StorageReport } from "../report.ts";
import type { JournalMarks } from "../tables/journal-marks.ts";
import type { FileJournal } from "./journal.ts";
import type { KeptSegments } from "./kept-segments.ts";
import { postAll, type LedgerWriter } from "./posting.ts";
import { readSegment, segmentFiles } from "./segments.ts";
import { countText } from "../../lib/count-text.ts";

/** Posts charges of the running process again when the database has lost them by going back to an earlier state. */
export interface LostCharges {
  /**
   * Looks for lost charges and posts them again, at most every few seconds unless `isNow`. Call it while nothing is
   * being posted.
   */
  find(lastBatch: number, isNow: boolean): Promise<void>;
  /** Returns the number of lost charges found so far. */
  count(): number;
}

export interface LostChargesOptions {
  writer: LedgerWriter;
  marks: Pick<JournalMarks, "read" | "set">;
  kept: KeptSegments;
  onProblem: StorageReport;
  /** The folder of the process's segments. */
  folder: string;
  processId: string;
  clock: Clock;
  journal: () => FileJournal;
}

const FIND_MS = 5000;

export const WENT_BACK = "the database has gone back to an earlier state: journaled charges are posted again";

export function lostCharges(options: LostChargesOptions): LostCharges {
  const { marks, processId, clock, onProblem, writer } = options;
  let nextAt = 0;
  let count = 0;
  return {
    count: () => count,
    async find(lastBatch, isNow) {
      if (!isNow && clock.monotonic() < nextAt) return;
      const posted = (await marks.read([processId])).get(processId);
      if (posted === undefined || posted < lastBatch) {
        onProblem(WENT_BACK, null);
        const { added } = await postAll(writer, processId, chargesOnDisk(options));
        await marks.set(processId, lastBatch);
        count += added;
        onProblem(`posted ${countText(added, "charge")} again that the database had lost`, null, "info");
      }
      nextAt = clock.monotonic() + FIND_MS;
    },
  };
}

function* chargesOnDisk({ folder, kept, processId, journal }: LostChargesOptions): Generator<LedgerEntry> {
  const until = journal().position();
  for (const { path, segment } of [...kept.list(processId), ...segmentFiles(folder)]) {
    for (const { record, end } of readSegment(path, 0, () => {})) {
      if (segment === until.segment && end > until.offset) return;
      if (record.type === "charge") yield record.entry;
    }
  }
}
