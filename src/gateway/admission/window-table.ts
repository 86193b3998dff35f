import { SlidingWindow } from "./sliding-window.ts";

/** Windows by owner in two generations: a window that was not used for its whole length is dropped without a search. */
export class WindowTable {
  #young = new Map<string, SlidingWindow>();
  #old = new Map<string, SlidingWindow>();
  #turnsAt = -Infinity;
  readonly #windowMs: number;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  all(): [owner: string, SlidingWindow][] {
    return [...this.#old, ...this.#young];
  }

  find(owner: string, now: number): SlidingWindow | undefined {
    if (now >= this.#turnsAt) this.#turn(now);
    const young = this.#young.get(owner);
    if (young) return young;
    const old = this.#old.get(owner);
    if (!old) return undefined;
    this.#old.delete(owner);
    this.#young.set(owner, old);
    return old;
  }

  open(owner: string, now: number): SlidingWindow {
    const found = this.find(owner, now);
    if (found) return found;
    const window = new SlidingWindow(this.#windowMs);
    this.#young.set(owner, window);
    return window;
  }

  #turn(now: number): void {
    this.#old = now < this.#turnsAt + this.#windowMs ? this.#young : new Map();
    this.#young = new Map();
    this.#turnsAt = now + this.#windowMs;
  }
}
