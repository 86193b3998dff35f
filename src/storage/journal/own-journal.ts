import { systemClock } from "../../lib/clock.ts";
import { withDeadline } from "../../lib/waiting.ts";
import type { LeaseStore } from "../budgets/leases.ts";
import type { JournalMarks } from "../tables/journal-marks.ts";
import { createFolder, type JournalFolder } from "./journal-folder.ts";
import { openJournal, type FileJournal } from "./journal.ts";
import { listSegments } from "./segments.ts";
import { startShipper, type Shipper, type ShipperOptions } from "./shipper.ts";

/** The journal of this process, and the shipper that posts its charges to the ledger. */
interface OwnJournal {
  journal: FileJournal;
  shipper: Shipper;
  /**
   * Posts the journal and then returns the leases, each for at most `deadlineMs` milliseconds. If both succeed, moves
   * the segments to the kept segments.
   */
  close(deadlineMs: number): Promise<void>;
}

interface OwnJournalParts extends Pick<ShipperOptions, "writer" | "kept" | "persist" | "onProblem"> {
  marks: JournalMarks;
  leases: LeaseStore;
}

/** Opens the journal. Throws a `DependencyError` when the database is unavailable. */
export async function openOwnJournal(
  root: string,
  processId: string,
  parts: OwnJournalParts,
): Promise<OwnJournal> {
  await parts.marks.set(processId, 0);
  const folder = createFolder(root, processId);
  const shipper = startShipper({
    ...parts,
    folder: folder.path,
    processId,
    clock: systemClock,
    journal: () => journal,
  });
  const journal: FileJournal = openJournal({
    folder: folder.path,
    onAppend: (...appended) => shipper.onAppend(...appended),
    onRefused: (entry) => shipper.keep(entry),
    onProblem: parts.onProblem,
  });
  return {
    journal,
    shipper,
    close: (deadlineMs) => close({ ...parts, folder, shipper, journal }, deadlineMs),
  };
}

async function close(
  parts: OwnJournalParts & { folder: JournalFolder; shipper: Shipper; journal: FileJournal },
  deadlineMs: number,
): Promise<void> {
  const { shipper, journal, folder, leases, marks, kept, persist } = parts;
  await shipper.flush(deadlineMs);
  await shipper.stop();
  await journal.close();
  // `isSettled` is called last, because a record may have been appended while the last charges were posted. If charges
  // are left, their money stays held until another process has taken the journal over and posted them.
  if (!shipper.isSettled()) return folder.release();
  const { processId, path } = folder;
  const last = shipper.lastBatch() + 1;
  const returnLeases = async () => {
    await leases.release(processId);
    // The mark proves that the leases were returned: if the database goes back to a state without the mark,
    // that state may still have the leases.
    await marks.raise(processId, last);
    await persist();
  };
  const tooLate = () => new Error("the deadline has passed");
  const isReturned = await withDeadline(deadlineMs, returnLeases(), tooLate).then(
    () => true,
    () => false,
  );
  if (!isReturned) return folder.release();
  kept.keep(path, processId, listSegments(path), last);
  folder.remove();
}
