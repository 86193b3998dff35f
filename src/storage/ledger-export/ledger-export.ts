import { DependencyError } from "../../gateway/dependency-error.ts";
import { systemClock } from "../../lib/clock.ts";
import { threadScript } from "../../lib/program-files.ts";
import { type BackgroundWork, every } from "../../lib/waiting.ts";
import { outageReport, type StorageReport } from "../report.ts";
import { calledThread } from "../thread/called-thread.ts";
import type { ExportStep } from "./exporter.ts";
import type { LedgerFileFormat } from "./files.ts";

export interface LedgerExportSetup {
  /** Address of PostgreSQL or path of a SQLite file. The database must be migrated already. */
  location: string;
  /** The `s3://` address under which files are written. */
  url: string;
  format: LedgerFileFormat;
  processId: string;
}

/** A request to the thread: to write the next file, or to give up the right to write files. */
export type ExportCall = "next" | "leave";

/** The result of a step, or the reason why the file could not be written. */
export type ExportResult = ExportStep | { problem: string };

/** Exports posted entries as files, for a data warehouse. */
export interface LedgerExport extends BackgroundWork {
  /** Returns the seconds since the time up to which files contain all posted entries. */
  lagSeconds(): number;
  /** Returns the number of this process's failed attempts to write a file. */
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
 * Exports posted entries at once and then every minute, in a thread. Only one process at a time writes to a
 * destination.
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
      // 0 means that nothing is exported to the destination yet; the lag then counts from the start of this process.
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
      // The right to write is given up, so that another process can take over before the right expires.
      await thread.call("leave").catch(() => {});
      await thread.close();
    },
  };
}
