import { threadScript } from "../../lib/program-files.ts";
import type { StorageReport } from "../report.ts";
import { calledThread } from "../thread/called-thread.ts";
import type { LedgerWriter } from "./posting.ts";

export interface WriterSetup {
  /** A `postgres://` address or the path of a SQLite file, with all migrations. */
  location: string;
  /** Path of the file of refused entries; see `Posting`. */
  refusedPath: string;
}

/** The argument of a call: lines of a process's journal, and the number of their batch. */
export interface WriterCall {
  processId: string;
  lines: Uint8Array;
  batch: number | undefined;
}

interface ThreadWriterOptions extends WriterSetup {
  onProblem: StorageReport;
  onDamage?: (reason: string) => void;
  /** The module that the thread runs. */
  script?: URL;
  /** Maximum duration of a batch in milliseconds, after which the thread counts as dead. */
  patienceMs?: number;
}

export interface ThreadWriter extends LedgerWriter {
  close(): Promise<void>;
}

const SCRIPT = threadScript("src/storage/journal/ledger-writer-thread.ts");
/** Maximum duration of a batch. It is long, because a refused batch needs many calls to the database. */
const PATIENCE_MS = 120_000;

/** Opens a writer that posts on its own thread, so that no request waits for the work of the ledger. */
export function openThreadWriter({
  location,
  refusedPath,
  onProblem,
  onDamage,
  script = SCRIPT,
  patienceMs = PATIENCE_MS,
}: ThreadWriterOptions): ThreadWriter {
  const setup: WriterSetup = { location, refusedPath };
  const name = "the thread that writes the ledger";
  const thread = calledThread<WriterCall, number>({ script, setup, name, patienceMs, onProblem, onDamage });
  return {
    post: (processId, lines, batch) => thread.call({ processId, lines, batch }),
    close: () => thread.close(),
  };
}
