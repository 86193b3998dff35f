/**
 * Many deadlines on one coarse timer: a deadline fires up to a tick late and costs almost nothing to set or clear.
 * For limits of seconds on the request path, in place of a timer and an abort listener for each call.
 */
export class DeadlineTimer {
  /**
   * Unordered; each deadline has its index. Not a `Set`: the tables it outgrows reference one another until a full
   * collection, with everything that was in them.
   */
  readonly #pending: PendingDeadline[] = [];
  #timer: ReturnType<typeof setInterval> | undefined;
  readonly #tickMs: number;

  constructor(tickMs = 100) {
    this.#tickMs = tickMs;
  }

  /** Calls `expire` once after `afterMs`, or within a tick of the signal's abort, unless cleared before. */
  set(afterMs: number, expire: () => void, signal: AbortSignal | null = null): Deadline {
    const deadline = { at: performance.now() + afterMs, expire, signal, index: this.#pending.length };
    this.#pending.push(deadline);
    this.#timer ??= setInterval(() => this.#tick(), this.#tickMs);
    return deadline;
  }

  /** Clears a deadline; no effect on one that has fired or was cleared. */
  clear(deadline: Deadline): void {
    const { index } = deadline;
    const last = this.#pending.at(-1);
    if (this.#pending[index] !== deadline || !last) return;
    this.#pending[index] = last;
    last.index = index;
    this.#pending.pop();
  }

  #tick(): void {
    const now = performance.now();
    for (const deadline of this.#pending.filter(({ at, signal }) => at <= now || signal?.aborted)) {
      // An earlier `expire` may have cleared this one.
      if (this.#pending[deadline.index] !== deadline) continue;
      this.clear(deadline);
      deadline.expire();
    }
    if (this.#pending.length === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
  }
}

/** A pending deadline, to be cleared by the code that set it. */
export interface Deadline {
  readonly index: number;
}

interface PendingDeadline extends Deadline {
  /** Monotonic milliseconds. */
  readonly at: number;
  readonly expire: () => void;
  readonly signal: AbortSignal | null;
  index: number;
}
