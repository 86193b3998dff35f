import type { AdminStore } from "../../admin/admin-store.ts";
import { threadScript } from "../../lib/program-files.ts";
import type { StorageReport } from "../report.ts";
import { calledThread } from "../thread/called-thread.ts";
import { READERS, type Reader, type ReadStore } from "./readers.ts";

/** A call of one of the store's methods, with its arguments. */
export interface Reading {
  store: ReadStore;
  method: string;
  args: unknown[];
}

export interface ReadingSetup {
  /** A `postgres://` address or the path of a SQLite file, with all migrations. */
  location: string;
  /** The folder of all journals of this machine. */
  journals: string;
  /** Maximum number of readings that run at the same time. On SQLite they run one after another anyway. */
  connections: number;
}

interface ReadingOptions extends Pick<ReadingSetup, "location" | "journals"> {
  onProblem: StorageReport;
  onDamage?: (reason: string) => void;
  /** The module that the threads run. */
  script?: URL;
}

type Thread = Exclude<Reader, "caller">;

const SCRIPT = threadScript("src/storage/readings/readings-thread.ts");

/** `patienceMs` is far longer than any healthy reading takes: a report without an index reads the whole ledger. */
const THREADS: Readonly<Record<Thread, { name: string; connections: number; patienceMs: number }>> = {
  reports: { name: "the thread that reads for administration", connections: 4, patienceMs: 120_000 },
  verification: { name: "the thread that verifies", connections: 1, patienceMs: 60 * 60_000 },
};

/**
 * Returns the store with its long readings on separate threads with separate connections. No request waits for a long
 * reading of administration, and no report waits for a verification.
 */
export function withReadingThreads(
  admin: AdminStore,
  { location, journals, onProblem, onDamage, script = SCRIPT }: ReadingOptions,
): { admin: AdminStore; close(): Promise<void> } {
  const start = ({ connections, ...thread }: (typeof THREADS)[Thread]) => {
    const setup: ReadingSetup = { location, journals, connections };
    return calledThread<Reading, unknown>({ ...thread, script, setup, onProblem, onDamage });
  };
  const threads = { reports: start(THREADS.reports), verification: start(THREADS.verification) };
  const stores = Object.entries(READERS).map(([each, readers]) => {
    const store = each as ReadStore;
    const moved = Object.entries(readers as Record<string, Reader>).flatMap(([method, reader]) =>
      reader === "caller"
        ? []
        : [[method, (...args: unknown[]) => threads[reader].call({ store, method, args })]],
    );
    return [store, { ...admin[store], ...Object.fromEntries(moved) }];
  });
  return {
    admin: { ...admin, ...Object.fromEntries(stores) },
    close: async () => void (await Promise.all([threads.reports.close(), threads.verification.close()])),
  };
}
