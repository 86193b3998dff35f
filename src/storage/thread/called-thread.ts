import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { DependencyError } from "../../gateway/dependency-error.ts";
import { withDeadline } from "../../lib/waiting.ts";
import type { StorageReport } from "../report.ts";

/** A thread that executes calls. Arguments and results are cloned. */
export interface CalledThread<Argument, Result> {
  /** Executes a call. Throws a `DependencyError` when the thread ends or hangs, or when the call throws one. */
  call(argument: Argument): Promise<Result>;
  /** Ends the thread after the running calls, but at most a second later. */
  close(): Promise<void>;
}

interface ThreadOptions {
  /** The module that the thread runs. The module must call `doCalls`. */
  script: URL;
  /** The `workerData` of the thread. */
  setup: object;
  /** Name of the thread in messages, such as "the thread that writes the ledger". */
  name: string;
  /** Maximum duration of a call in milliseconds, after which the thread counts as dead. */
  patienceMs: number;
  onProblem: StorageReport;
  /** Called when a statement of the thread fails in a way that indicates damage of the database. */
  onDamage?: ((reason: string) => void) | undefined;
}

/** A message to the thread. Null makes the thread end after all earlier calls. */
export type ThreadCall = { number: number; argument: unknown } | null;

/** A message from the thread. */
export type ThreadWord =
  | { kind: "done"; number: number; result: unknown }
  | { kind: "failed"; number: number; message: string; isUnavailable: boolean }
  | { kind: "problem"; message: string; cause: string }
  | { kind: "damage"; reason: string };

const CLOSE_MS = 1_000;

/**
 * Makes a `CalledThread`. The thread starts with the first call. A thread that ends or hangs is reported and replaced;
 * its calls fail as if the database were unavailable.
 */
export function calledThread<Argument, Result>(options: ThreadOptions): CalledThread<Argument, Result> {
  return new ReplacedThread(options);
}

interface Waiting<Result> {
  resolve(result: Result): void;
  reject(error: Error): void;
}

class ReplacedThread<Argument, Result> implements CalledThread<Argument, Result> {
  readonly #options: ThreadOptions;
  readonly #waiting = new Map<number, Waiting<Result>>();
  #thread: Worker | null = null;
  #calls = 0;

  constructor(options: ThreadOptions) {
    this.#options = options;
  }

  async call(argument: Argument): Promise<Result> {
    const { name, patienceMs } = this.#options;
    const thread = (this.#thread ??= this.#start());
    const number = (this.#calls += 1);
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#waiting.set(number, { resolve, reject });
    thread.postMessage({ number, argument } satisfies ThreadCall);
    const hung = () => {
      const error = new DependencyError(`${name} does not respond`);
      this.#lose(thread, error);
      void thread.terminate();
      return error;
    };
    try {
      return await withDeadline(patienceMs, promise, hung);
    } finally {
      this.#waiting.delete(number);
    }
  }

  async close(): Promise<void> {
    const thread = this.#thread;
    if (!thread) return;
    // From here on, the end of the thread is expected and not reported.
    this.#thread = null;
    const ended = once(thread, "exit");
    thread.postMessage(null satisfies ThreadCall);
    await withDeadline(CLOSE_MS, ended, () => new Error("the thread goes on")).catch(() =>
      thread.terminate(),
    );
  }

  #start(): Worker {
    const { script, setup } = this.#options;
    const thread = new Worker(script, { workerData: setup });
    thread.on("message", (word: ThreadWord) => this.#onWord(word));
    thread.on("error", (error) => this.#lose(thread, error));
    thread.on("exit", (code) => this.#lose(thread, new Error(`it exited with ${code}`)));
    thread.unref();
    return thread;
  }

  #onWord(word: ThreadWord): void {
    if (word.kind === "problem") return this.#options.onProblem(word.message, word.cause);
    if (word.kind === "damage") return this.#options.onDamage?.(word.reason);
    const waiting = this.#waiting.get(word.number);
    if (word.kind === "done") return waiting?.resolve(word.result as Result);
    const { message, isUnavailable } = word;
    waiting?.reject(isUnavailable ? new DependencyError(message) : new Error(message));
  }

  /** Forgets a thread that has ended or hangs. The next call starts another thread. */
  #lose(thread: Worker, cause: unknown): void {
    if (this.#thread !== thread) return;
    this.#thread = null;
    const { name, onProblem } = this.#options;
    onProblem(`${name} has ended; another one continues`, cause, "warn");
    for (const { reject } of this.#waiting.values()) reject(new DependencyError(`${name} has ended`));
  }
}
