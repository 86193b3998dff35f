import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { DependencyError } from "../../gateway/ports.ts";
import { withDeadline } from "../../lib/waiting.ts";
import type { Report } from "../report.ts";
import type { LedgerWriter } from "./posting.ts";

/** What a thread needs to write. */
export interface WriterSetup {
  /** A `postgres://` address or the path of a SQLite file, already migrated. */
  location: string;
  /** See `Posting`. */
  refusedPath: string;
}

/** Lines to post; null ends the thread once everything before is posted. */
export interface Batch {
  number: number;
  processId: string;
  lines: string;
}

/** What the thread sends. */
export type WriterWord =
  | { kind: "posted"; number: number }
  | { kind: "failed"; number: number; message: string; isUnavailable: boolean }
  | { kind: "problem"; message: string; cause: string };

interface ThreadWriterOptions extends WriterSetup {
  onProblem: Report;
  /** What the thread runs. */
  script?: URL;
  /** Longest a batch may take before its thread counts as dead. Milliseconds. */
  patienceMs?: number;
}

/** A writer with a thread. */
export interface ThreadWriter extends LedgerWriter {
  close(): Promise<void>;
}

const SCRIPT = new URL("./ledger-writer-thread.ts", import.meta.url);
/** Far beyond the deadline of a call to the database, of which a refused batch needs many. */
const PATIENCE_MS = 120_000;
const CLOSE_MS = 1_000;

/**
 * Posts on a thread of its own, so that no request waits for the work of the ledger. The thread starts with the first
 * batch. One that ends or hangs is reported and replaced: its batches fail as if the database were away, and are
 * posted again.
 */
export function openThreadWriter(options: ThreadWriterOptions): ThreadWriter {
  return new LedgerThread(options);
}

interface Waiting {
  resolve(): void;
  reject(error: Error): void;
}

class LedgerThread implements ThreadWriter {
  readonly #options: ThreadWriterOptions;
  readonly #waiting = new Map<number, Waiting>();
  #thread: Worker | null = null;
  #batches = 0;

  constructor(options: ThreadWriterOptions) {
    this.#options = options;
  }

  async post(processId: string, lines: string): Promise<void> {
    const thread = (this.#thread ??= this.#start());
    const number = (this.#batches += 1);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.set(number, { resolve, reject });
    thread.postMessage({ number, processId, lines } satisfies Batch);
    const hung = () => {
      const error = new DependencyError("the ledger writer does not respond");
      this.#lose(thread, error);
      void thread.terminate();
      return error;
    };
    try {
      await withDeadline(this.#options.patienceMs ?? PATIENCE_MS, promise, hung);
    } finally {
      this.#waiting.delete(number);
    }
  }

  async close(): Promise<void> {
    const thread = this.#thread;
    if (!thread) return;
    // From here on its end is no loss.
    this.#thread = null;
    const ended = once(thread, "exit");
    thread.postMessage(null);
    await withDeadline(CLOSE_MS, ended, () => new Error("the thread goes on")).catch(() =>
      thread.terminate(),
    );
  }

  #start(): Worker {
    const { location, refusedPath, script = SCRIPT } = this.#options;
    const workerData: WriterSetup = { location, refusedPath };
    const thread = new Worker(script, { workerData });
    thread.on("message", (word: WriterWord) => this.#onWord(word));
    thread.on("error", (error) => this.#lose(thread, error));
    thread.on("exit", (code) => this.#lose(thread, new Error(`it exited with ${code}`)));
    thread.unref();
    return thread;
  }

  #onWord(word: WriterWord): void {
    if (word.kind === "problem") return this.#options.onProblem(word.message, word.cause);
    const waiting = this.#waiting.get(word.number);
    if (word.kind === "posted") return waiting?.resolve();
    const { message, isUnavailable } = word;
    waiting?.reject(isUnavailable ? new DependencyError(message) : new Error(message));
  }

  /** The next batch starts another thread. */
  #lose(thread: Worker, cause: unknown): void {
    if (this.#thread !== thread) return;
    this.#thread = null;
    this.#options.onProblem("the thread that writes the ledger has ended; another one continues", cause);
    for (const { reject } of this.#waiting.values())
      reject(new DependencyError("the ledger writer has ended"));
  }
}
