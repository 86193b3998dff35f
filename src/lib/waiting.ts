import type { Cancellation } from "./cancellation.ts";

/** Waits so many milliseconds; rejects with the signal's reason as soon as that aborts. */
export async function sleep(milliseconds: number, signal?: Cancellation): Promise<void> {
  if (!signal) return Bun.sleep(milliseconds);
  signal.throwIfAborted();
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  try {
    await untilAborted(promise, signal);
  } finally {
    clearTimeout(timer);
  }
}

/** The outcome of `work`, or a rejection with the signal's reason when that aborts first. The work itself goes on. */
export async function untilAborted<Result>(work: Promise<Result>, signal: Cancellation): Promise<Result> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** The outcome of `work`, or a rejection with `late()` after so many milliseconds. The work itself goes on. */
export async function withDeadline<Result>(
  milliseconds: number,
  work: Promise<Result>,
  late: () => Error,
): Promise<Result> {
  const { promise: passed, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(late()), milliseconds);
  try {
    return await Promise.race([work, passed]);
  } finally {
    clearTimeout(timer);
  }
}

/** Calls `work` after so many milliseconds, unless what is returned is called before. */
export function after(milliseconds: number, work: () => void): () => void {
  const timer = setTimeout(work, milliseconds);
  return () => clearTimeout(timer);
}

/** Work in the background, from the call that starts it until it is stopped. */
export interface BackgroundWork {
  /** Starts no further run and resolves when the one under way, if any, has ended. May be called again. */
  stop(): Promise<void>;
}

/** Runs `work` every so many milliseconds, never twice at once; what it throws goes to `onProblem`. */
export function every(
  milliseconds: number,
  work: () => unknown,
  onProblem: (error: unknown) => void,
): BackgroundWork {
  let running: Promise<void> | null = null;
  const run = async () => {
    try {
      await work();
    } catch (error) {
      onProblem(error);
    } finally {
      running = null;
    }
  };
  const timer = setInterval(() => (running ??= run()), milliseconds);
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}

const SHARE_MS = 5;

/** The process has one event loop, hence one queue: what waits to continue, and when something last continued. */
const loop = { waiting: new Array<() => void>(), resumedAt: 0 };

/**
 * Keeps long computations from blocking the event loop: await it before each step of at most a few milliseconds.
 * A single computation continues for 5 ms; several take turns, and pending I/O runs between two steps. Throws the
 * signal's reason once that is aborted.
 */
export function yieldToEventLoop(signal?: AbortSignal): Promise<void> | undefined {
  signal?.throwIfAborted();
  if (loop.waiting.length === 0 && performance.now() - loop.resumedAt < SHARE_MS) return undefined;
  const { promise, resolve } = Promise.withResolvers<void>();
  if (loop.waiting.push(resolve) === 1) setImmediate(resumeNext);
  return promise;
}

/** The same between two steps of work with a whole text, of which a long one takes tens of milliseconds each. */
export function yieldAfter({ length }: { length: number }): Promise<void> | undefined {
  return length > LONG ? yieldToEventLoop() : undefined;
}

const LONG = 1024 * 1024;

function resumeNext(): void {
  loop.resumedAt = performance.now();
  loop.waiting.shift()?.();
  if (loop.waiting.length > 0) setImmediate(resumeNext);
}
