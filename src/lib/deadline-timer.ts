/**
 * Number of slots. Each tick processes the next slot, and the last slot is followed by the first. A deadline that is
 * further away stays in its slot for another round.
 */
const SLOTS = 1024;

/**
 * Runs many deadlines on one coarse timer. It is for limits of seconds on the request path. A deadline fires up to a
 * tick late, but setting and clearing it cost almost nothing; a timer and an abort listener for each call would cost
 * more. Each tick checks the deadlines of one slot, and all deadlines with a signal.
 */
export class DeadlineTimer {
  readonly #slots: readonly Deadline[][] = Array.from({ length: SLOTS }, () => []);
  readonly #watched: Deadline[] = [];
  #pending = 0;
  /** The last tick that was processed. */
  #tickNumber = 0;
  #timer: ReturnType<typeof setInterval> | undefined;
  readonly #tickMs: number;

  constructor(tickMs = 100) {
    this.#tickMs = tickMs;
  }

  /** Calls `expire` once: after `afterMs`, or within a tick of the signal's abort. `clear` prevents the call. */
  set(afterMs: number, expire: () => void, signal: AbortSignal | null = null): Deadline {
    const now = performance.now();
    if (this.#pending++ === 0) this.#start(now);
    const at = now + afterMs;
    const list = this.#slotOf(Math.max(this.#tickNumber, this.#tickOf(at)));
    const deadline = { at, expire, signal, list, index: list.length, watchIndex: -1 };
    list.push(deadline);
    if (signal) deadline.watchIndex = this.#watched.push(deadline) - 1;
    return deadline;
  }

  /** Clears a deadline. Has no effect on a deadline that has fired or was cleared. */
  clear(deadline: Deadline): void {
    const { list, index } = deadline;
    const last = list.at(-1);
    if (list[index] !== deadline || !last) return;
    list[index] = last;
    last.index = index;
    list.pop();
    this.#pending--;
    this.unwatch(deadline);
  }

  /** Stops watching the deadline's signal. The caller must watch the signal from now on. */
  unwatch(deadline: Deadline): void {
    const { watchIndex } = deadline;
    const last = this.#watched.at(-1);
    if (this.#watched[watchIndex] !== deadline || !last) return;
    this.#watched[watchIndex] = last;
    last.watchIndex = watchIndex;
    this.#watched.pop();
  }

  #start(now: number): void {
    this.#tickNumber = this.#tickOf(now);
    this.#timer ??= setInterval(() => this.#tick(), this.#tickMs);
  }

  #tick(): void {
    const now = performance.now();
    const due = this.#watched.filter(({ signal }) => signal?.aborted);
    const first = Math.max(this.#tickNumber, this.#tickOf(now) - SLOTS + 1);
    this.#tickNumber = this.#tickOf(now);
    for (let tick = first; tick <= this.#tickNumber; tick++)
      for (const deadline of this.#slotOf(tick)) if (deadline.at <= now) due.push(deadline);
    for (const deadline of due) {
      // Another deadline's `expire` may have cleared this deadline. An aborted deadline may also be due in this tick.
      if (deadline.list[deadline.index] !== deadline) continue;
      this.clear(deadline);
      deadline.expire();
    }
    if (this.#pending > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tickOf(at: number): number {
    return Math.floor(at / this.#tickMs);
  }

  #slotOf(tick: number): Deadline[] {
    return this.#slots[tick % SLOTS] ?? [];
  }
}

/** A pending deadline, to be cleared by the code that set it. */
export interface Deadline {
  /** Monotonic milliseconds. */
  readonly at: number;
  readonly expire: () => void;
  readonly signal: AbortSignal | null;
  /**
   * The list that contains the deadline. The list has no order: its last deadline takes the place of a cleared
   * deadline.
   */
  readonly list: Deadline[];
  index: number;
  watchIndex: number;
}
