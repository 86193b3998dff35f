import { DependencyError } from "../../gateway/dependency-error.ts";
import { systemClock } from "../../lib/clock.ts";
import { threadScript } from "../../lib/program-files.ts";
import { type BackgroundWork, every } from "../../lib/waiting.ts";
import { outageReport, type StorageReport } from "../report.ts";
import { calledThread } from "../thread/called-thread.ts";
import type { ExportStep } from "./exporter.ts";
import type { LedgerFileFormat } from "./files.ts";

/** Settings of the thread. */
export interface LedgerExportSetup {
  /** A `postgres://` address or the path of a SQLite file, already migrated. */
  location: string;
  /** The `s3://` address of the files. */
  url: string;
  format: LedgerFileFormat;
  processId: string;
}

/** Write the next file, or leave the turn to another process. */
export type ExportCall = "next" | "leave";

/** A step, or why the file could not be written. */
export type ExportResult = ExportStep | { problem: string };

/** The export of posted entries as files, for a warehouse. */
export interface LedgerExport extends BackgroundWork {
  /** Seconds since the last entry that is in a file, or since all were. */
  lagSeconds(): number;
  /** Files that could not be written, by this process. */
  failures(): number;
}

interface LedgerExportOptions extends LedgerExportSetup {
  onProblem: StorageReport;
}

const EVERY_MS = 60_000;
const PATIENCE_MS = 5 * 60_000;
const LINES = {
  lost: "the ledger cannot be exported: entries wait in the database",
  available: "the ledger is exported again",
};

/**
 * Exports what was posted, at once and then each minute, on a thread of its own. Of all processes on the database one
 * writes.
 */
export function startLedgerExport({ onProblem, ...setup }: LedgerExportOptions): LedgerExport {
  const script = threadScript("src/storage/ledger-export/ledger-export-thread.ts");
  const name = "the thread that exports the ledger";
  const thread = calledThread<ExportCall, ExportResult | null>({
    name,
    script,
    setup,
    patienceMs: PATIENCE_MS,
    onProblem,
  });
  const storage = outageReport(LINES, onProblem);
  let exported = systemClock.now();
  let failures = 0;
  const stopping = new AbortController();
  const run = async (): Promise<void> => {
    for (let isMore = true; isMore && !stopping.signal.aborted;) {
      const result = await thread.call("next");
      if (!result) return;
      if ("problem" in result) {
        failures += 1;
        storage.lost(new DependencyError(result.problem, { dependency: "blobs" }));
        return;
      }
      storage.available();
      // Nothing has been exported yet to a new destination.
      if (result.exported > 0) exported = result.exported;
      isMore = result.isMore;
    }
  };
  const report = (error: unknown): void => onProblem("the ledger was not exported", error);
  const first = run().catch(report);
  const work = every(EVERY_MS, run, report);
  return {
    lagSeconds: () => Math.max(0, systemClock.now() - exported) / 1000,
    failures: () => failures,
    async stop() {
      stopping.abort();
      await Promise.all([first, work.stop()]);
      // Another process goes on sooner; without it, once the turn has passed.
      await thread.call("leave").catch(() => {});
      await thread.close();
    },
  };
}
