/** Why a running job was stopped. The first reason stays. */
type StopReason = "cancelled" | "overdue" | "handed over" | "lost";

/** Stops one running job, at its deadline by itself. Dispose of it when the job has ended. */
export class RunControl implements Disposable {
  readonly #controller = new AbortController();
  readonly #timer: Timer;
  #reason: StopReason | null = null;

  constructor(remainingMs: number) {
    this.#timer = setTimeout(() => this.stop("overdue"), Math.max(0, remainingMs));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isCancelled(): boolean {
    return this.#reason === "cancelled";
  }

  get isOverdue(): boolean {
    return this.#reason === "overdue";
  }

  /** Somebody else goes on with the job, or has it already. */
  get isHandedOver(): boolean {
    return this.#reason === "handed over" || this.#reason === "lost";
  }

  stop(reason: StopReason): void {
    if (this.#reason !== null) return;
    this.#reason = reason;
    this.#controller.abort(new Error(`the job was ${reason}`));
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
