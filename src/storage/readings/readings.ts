import type { AdminStore } from "../../admin/ports.ts";
import type { Report } from "../report.ts";
import { calledThread } from "../thread/called-thread.ts";

/** What administration reads that may go through many rows. None of it writes. */
const READINGS = {
  usage: ["sums", "spending", "traffic", "errors", "hasPictures"],
  requests: ["list", "find"],
  ledger: ["list", "position", "history", "charges"],
  pictures: ["list"],
  audit: ["list"],
  jobs: ["list"],
  keys: ["page", "lastUsed"],
} as const satisfies { [Store in keyof AdminStore]?: readonly (keyof AdminStore[Store])[] };

/** One reading, with the arguments of the store's method. */
export interface Reading {
  store: keyof typeof READINGS;
  method: string;
  args: unknown[];
}

interface ReadingOptions {
  /** The path of a SQLite file, already migrated. */
  location: string;
  onProblem: Report;
  onDamage?: (reason: string) => void;
  /** What the thread runs. */
  script?: URL;
}

const SCRIPT = new URL("./readings-thread.ts", import.meta.url);
/** Far beyond any reading that has an index; one without goes through a ledger of any length. */
const PATIENCE_MS = 120_000;

/**
 * The store with its long readings on a thread of their own, for SQLite, which reads on the thread that asks: no
 * request waits for what administration reads.
 */
export function withReadingThread(
  admin: AdminStore,
  { location, onProblem, onDamage, script = SCRIPT }: ReadingOptions,
): { admin: AdminStore; close(): Promise<void> } {
  const name = "the thread that reads for administration";
  const setup = { location };
  const thread = calledThread<Reading, unknown>({
    script,
    setup,
    name,
    patienceMs: PATIENCE_MS,
    onProblem,
    onDamage,
  });
  const stores = Object.entries(READINGS).map(([each, methods]) => {
    const store = each as Reading["store"];
    const moved = methods.map((method) => [
      method,
      (...args: unknown[]) => thread.call({ store, method, args }),
    ]);
    return [store, { ...admin[store], ...Object.fromEntries(moved) }];
  });
  return { admin: { ...admin, ...Object.fromEntries(stores) }, close: () => thread.close() };
}
