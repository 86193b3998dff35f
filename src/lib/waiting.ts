/** Waits the given milliseconds. Rejects with the signal's reason as soon as the signal aborts. */
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

/** Settles like `work`, or rejects with the signal's reason when the signal aborts first. The work continues. */
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

/**
 * Resolves or rejects like `work`, or rejects with `late()` after the given milliseconds. The work itself continues.
 */
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

/** Calls `work` after the given milliseconds. The returned function cancels the call. */
export function after(milliseconds: number, work: () => void): () => void {
  const timer = setTimeout(work, milliseconds);
  return () => clearTimeout(timer);
}

/** Resolves in the next turn of the event loop, after pending I/O. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * Returns a function that collects items. They are passed to `consume` together, before the event loop waits for I/O
 * again. For short work this costs less than a separate call for each item, because the code and data of `consume` are
 * then in the processor's cache for all items but the first.
 */
export function inBatches<Item>(consume: (items: readonly Item[]) => void): (item: Item) => void {
  let items: Item[] = [];
  const pass = () => {
    const passed = items;
    items = [];
    consume(passed);
  };
  return (item) => {
    if (items.push(item) === 1) setImmediate(pass);
  };
}

/** Background work that runs until it is stopped. */
export interface BackgroundWork {
  /** Prevents further runs. Resolves when the current run has ended. May be called again. */
  stop(): Promise<void>;
}

/** Runs `work` at an interval in milliseconds, never twice at the same time. `onProblem` gets the errors of `work`. */
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

/**
 * The callers that wait to continue, and the time when the last caller continued. There is one queue, because the
 * process has one event loop.
 */
const loop = { waiting: new Array<() => void>(), resumedAt: 0 };

/**
 * Keeps long computations from blocking the event loop. Await this function before each step of at most a few
 * milliseconds. A single computation runs for 5 ms at a time. Several computations take turns, and pending I/O runs
 * between two steps. Throws the signal's reason after an abort.
 */
export function yieldToEventLoop(signal?: AbortSignal): Promise<void> | undefined {
  signal?.throwIfAborted();
  if (loop.waiting.length === 0 && performance.now() - loop.resumedAt < SHARE_MS) return undefined;
  const { promise, resolve } = Promise.withResolvers<void>();
  if (loop.waiting.push(resolve) === 1) setImmediate(resumeNext);
  return promise;
}

/** Yields between two steps if the text is long. A step that processes a long text takes tens of milliseconds. */
export function yieldAfter({ length }: { length: number }): Promise<void> | undefined {
  return length > LONG ? yieldToEventLoop() : undefined;
}

const LONG = 1024 * 1024;

function resumeNext(): void {
  loop.resumedAt = performance.now();
  loop.waiting.shift()?.();
  if (loop.waiting.length > 0) setImmediate(resumeNext);
}

/** Aborts work. It is the part of `AbortSignal` that calls of text models use. */
export interface Cancellation {
  /**
   * The `traceparent` header (W3C Trace Context) of calls with this cancellation; absent without a trace. It is a text: a
   * function would keep in memory what it was made from, which cost a tenth of the processor time of a chat.
   */
  traceparent?: string;
  readonly aborted: boolean;
  readonly reason: unknown;
  /** Throws the reason if this cancellation was aborted. */
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/**
 * A cancellation that makes an `AbortSignal` only when one is needed. A signal is a native object of the runtime:
 * creating it, listening to it and collecting it cost microseconds per request.
 */
export class LightCancellation implements Cancellation {
  traceparent?: string;
  #isAborted = false;
  #reason: unknown;
  #listeners: (() => void)[] | null = null;
  #controller: AbortController | null = null;

  get aborted(): boolean {
    return this.#isAborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  throwIfAborted(): void {
    if (this.#isAborted) throw this.#reason;
  }

  /** Calls a listener once, at the first abort. Never calls a listener that is added after the abort. */
  addEventListener(_type: "abort", listener: () => void): void {
    (this.#listeners ??= []).push(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    const index = this.#listeners?.indexOf(listener) ?? -1;
    if (index >= 0) this.#listeners?.splice(index, 1);
  }

  /** This cancellation as an `AbortSignal`, for functions that require one. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.traceparent !== undefined)
        Object.assign(this.#controller.signal, { traceparent: this.traceparent });
      if (this.#isAborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  abort(reason: Error): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
    const listeners = this.#listeners ?? [];
    this.#listeners = null;
    for (const listener of listeners) listener();
  }
}

export function signalOf(cancellation: Cancellation): AbortSignal {
  if (cancellation instanceof AbortSignal) return cancellation;
  if (cancellation instanceof LightCancellation) return cancellation.signal;
  throw new TypeError("an unknown kind of cancellation");
}
