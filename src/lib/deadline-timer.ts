/**
 * Many deadlines on one coarse timer: a deadline fires up to a tick late and costs nothing to set or clear. Made
 * for limits of seconds on the request path, where a timer of its own for each call would be waste, and so would
 * a listener on each caller's signal.
 */
export class DeadlineTimer {
  /**
   * In no order; each knows its place. A `Set` is no use here: the tables it outgrows hang on to one another
   * until a full collection, and so does everything that was waiting in them.
   */
  readonly #pending: PendingDeadline[] = [];
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(private readonly tickMs = 100) {}

  /** Calls `expire` once after `afterMs`, or within a tick of the signal's abort, unless cleared before. */
  set(afterMs: number, expire: () => void, signal: AbortSignal | null = null): Deadline {
    const deadline = { at: performance.now() + afterMs, expire, signal, index: this.#pending.length };
    this.#pending.push(deadline);
    this.#timer ??= setInterval(() => this.#tick(), this.tickMs);
    return deadline;
  }

  /** Ends a deadline; one that has fired or was cleared stays so. */
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
      // One that fired before may have cleared this one.
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

/** A pending call, for its maker to end. */
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
