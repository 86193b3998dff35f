/** What ends work early: the part of an `AbortSignal` that calls of text models use. */
export interface Cancellation {
  readonly aborted: boolean;
  readonly reason: unknown;
  /** Throws the reason once it is aborted. */
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/**
 * A cancellation with an `AbortSignal` only if one is asked for. Those of the runtime are objects of its native side,
 * which cost a request microseconds to make, to listen to and to collect.
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

  /** A listener is called once, at the first abort; one that comes later never. */
  addEventListener(_type: "abort", listener: () => void): void {
    (this.#listeners ??= []).push(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    const index = this.#listeners?.indexOf(listener) ?? -1;
    if (index >= 0) this.#listeners?.splice(index, 1);
  }

  /** The same as a signal, for those who take nothing else. */
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

/** A cancellation as an `AbortSignal`. */
export function signalOf(cancellation: Cancellation): AbortSignal {
  if (cancellation instanceof AbortSignal) return cancellation;
  if (cancellation instanceof LightCancellation) return cancellation.signal;
  throw new TypeError("an unknown kind of cancellation");
}
