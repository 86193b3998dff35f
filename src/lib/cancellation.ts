/** Ends work early: the part of an `AbortSignal` that calls of text models use. */
export interface Cancellation {
  readonly aborted: boolean;
  readonly reason: unknown;
  /** Throws the reason after an abort. */
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/**
 * A cancellation that makes an `AbortSignal` only on request. A signal is a native object of the runtime: to make it,
 * listen to it and collect it costs a request microseconds.
 */
export class LightCancellation implements Cancellation {
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

  /** Calls a listener once, at the first abort; never a listener that is added after it. */
  addEventListener(_type: "abort", listener: () => void): void {
    (this.#listeners ??= []).push(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    const index = this.#listeners?.indexOf(listener) ?? -1;
    if (index >= 0) this.#listeners?.splice(index, 1);
  }

  /** The same cancellation as an `AbortSignal`, for functions that need one. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
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

/** Returns a cancellation as an `AbortSignal`. */
export function signalOf(cancellation: Cancellation): AbortSignal {
  if (cancellation instanceof AbortSignal) return cancellation;
  if (cancellation instanceof LightCancellation) return cancellation.signal;
  throw new TypeError("an unknown kind of cancellation");
}
