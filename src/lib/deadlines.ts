/**
 * Many deadlines on one coarse timer: a deadline fires up to a tick late and costs nothing to set or clear. Made
 * for limits of seconds on the request path, where a timer of its own for each call would be waste, and so would
 * a listener on each caller's signal.
 */
export class Deadlines {
  readonly #pending = new Set<Deadline>();
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(private readonly tickMs = 100) {}

  /** Calls `expire` once after `afterMs`, or within a tick of the signal's abort, unless cleared before. */
  set(afterMs: number, expire: () => void, signal: AbortSignal | null = null): Deadline {
    const deadline: Deadline = { at: performance.now() + afterMs, expire, signal };
    this.#pending.add(deadline);
    this.#timer ??= setInterval(() => this.#tick(), this.tickMs);
    return deadline;
  }

  /** Moves a pending deadline to `afterMs` from now. */
  extend(deadline: Deadline, afterMs: number): void {
    deadline.at = performance.now() + afterMs;
  }

  clear(deadline: Deadline): void {
    this.#pending.delete(deadline);
  }

  #tick(): void {
    const now = performance.now();
    for (const deadline of this.#pending) {
      if (deadline.at > now && !deadline.signal?.aborted) continue;
      this.#pending.delete(deadline);
      deadline.expire();
    }
    if (this.#pending.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
  }
}

export interface Deadline {
  /** Monotonic milliseconds. */
  at: number;
  readonly expire: () => void;
  readonly signal: AbortSignal | null;
}
