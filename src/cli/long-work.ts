import type { Progress } from "../lib/progress.ts";
import { every } from "../lib/waiting.ts";
import type { Terminal, TextOutput } from "./printer.ts";

/** Exit code after Ctrl-C or another signal to stop. It is the usual code of shells after Ctrl-C. */
const INTERRUPTED = 130;
const REFRESH_MS = 200;

/** Thrown to end a command with an exit code after its output. */
export class CommandEnd extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`the command ended with ${exitCode}`);
    this.exitCode = exitCode;
  }
}

interface LongWork<Result> {
  /** Does the work and calls `onProgress` for its steps. `onProgress` throws when the work has to clean up and end. */
  run(onProgress: Progress): Promise<Result>;
  /** Returns a sentence for the user about the state after an interruption. Called when the work has cleaned up. */
  whenInterrupted: () => string;
  /**
   * True for work that changes nothing, is atomic, or goes on at a remote gateway. After an interruption, the command
   * ends without waiting for the end of the work.
   */
  mayBeLeft?: boolean;
}

/**
 * Runs long work of a command. On a terminal the error output shows the step and the remaining time. After Ctrl-C the
 * work cleans up, and the command prints the resulting state and ends with 130.
 */
export async function runLongWork<Result>(
  { stderr, env }: Pick<Terminal, "stderr" | "env">,
  { run, whenInterrupted, mayBeLeft = false }: LongWork<Result>,
): Promise<Result> {
  const line = stderr.isTTY === true && env["TERM"] !== "dumb" ? new ProgressLine(stderr) : null;
  const interruption = Promise.withResolvers<never>();
  interruption.promise.catch(() => {});
  let isInterrupted = false;
  const onSignal = (): void => {
    isInterrupted = true;
    if (mayBeLeft) interruption.reject(new Error("interrupted"));
  };
  const onProgress: Progress = (...progress) => {
    if (isInterrupted) throw new Error("interrupted");
    line?.report(...progress);
  };
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  // The interval also keeps the process alive while only a thread works.
  const refreshing = every(
    REFRESH_MS,
    () => line?.refresh(),
    () => {},
  );
  try {
    return await Promise.race([run(onProgress), interruption.promise]);
  } catch (error) {
    if (!isInterrupted) throw error;
    line?.end();
    stderr.write(`Interrupted. ${whenInterrupted()}\n`);
    throw new CommandEnd(INTERRUPTED);
  } finally {
    line?.end();
    await refreshing.stop();
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
  }
}

/**
 * Runs an operation that may take minutes. A terminal shows `step` until the operation reports its own steps.
 * Operations of a remote gateway report none. `whenInterrupted` is absent for an operation that only reads.
 */
export async function runLongOperation<Result>(
  { context, isRemote }: { context: Pick<Terminal, "stderr" | "env">; isRemote(): boolean },
  { step, whenInterrupted }: { step: string; whenInterrupted?: string | undefined },
  run: (onProgress: Progress) => Promise<Result>,
): Promise<Result> {
  const isElsewhere = isRemote();
  return await runLongWork(context, {
    run(onProgress) {
      onProgress(step);
      return run(onProgress);
    },
    whenInterrupted() {
      if (whenInterrupted === undefined) return "Nothing was changed.";
      return isElsewhere ? "The gateway goes on with it." : whenInterrupted;
    },
    mayBeLeft: isElsewhere || whenInterrupted === undefined,
  });
}

/** Shows progress in one line of a terminal, by rewriting that line. The line of an ended step stays. */
class ProgressLine {
  readonly #output: TextOutput;
  #step: { text: string; startedAt: number; done: number; total: number | undefined } | null = null;
  #refreshedAt = 0;

  constructor(output: TextOutput) {
    this.#output = output;
  }

  report(text: string, done = 0, total?: number): void {
    if (this.#step?.text !== text) {
      this.end();
      this.#step = { text, startedAt: performance.now(), done, total };
      this.refresh();
      return;
    }
    const isNowKnown = this.#step.total === undefined && total !== undefined;
    Object.assign(this.#step, { done, total });
    if (isNowKnown || performance.now() - this.#refreshedAt > REFRESH_MS) this.refresh();
  }

  refresh(): void {
    if (!this.#step) return;
    this.#refreshedAt = performance.now();
    const { text, startedAt, done, total } = this.#step;
    const shown = progressText(text, { done, total, elapsedMs: this.#refreshedAt - startedAt });
    this.#output.write(`\r\u001B[K${shown.slice(0, (this.#output.columns ?? 80) - 1)}`);
  }

  /** Shows the duration of the step and moves the cursor to an empty line. */
  end(): void {
    if (!this.#step) return;
    this.#step.total = undefined;
    this.refresh();
    this.#output.write("\n");
    this.#step = null;
  }
}

/** Time after which the remaining time can be estimated. */
const UNKNOWN_MS = 1_000;

/** Returns a progress line: `Writing the file. 45 %, 12 s left`, or without a total `Listing pictures. 1200, 3 s`. */
export function progressText(
  step: string,
  { done, total, elapsedMs }: { done: number; total: number | undefined; elapsedMs: number },
): string {
  const seconds = (ms: number): string => durationText(Math.round(ms / 1000));
  if (total === undefined || total === 0)
    return `${step} ${done > 0 ? `${done}, ` : ""}${seconds(elapsedMs)}`;
  const share = Math.min(1, done / total);
  if (share === 1 || elapsedMs < UNKNOWN_MS || share === 0) return `${step} ${Math.floor(share * 100)} %`;
  return `${step} ${Math.floor(share * 100)} %, ${seconds((elapsedMs * (1 - share)) / share)} left`;
}

function durationText(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${seconds % 60} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
