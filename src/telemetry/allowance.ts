interface Bounds {
  atOnce: number;
  perSecond: number;
}

/** Most names that are remembered. When the least recently used one is forgotten, it may send another burst. */
const MAX_NAMES = 10_000;

/** Limits each name to a burst and then to a rate per second (token buckets). */
export class Allowance {
  readonly #bounds: Bounds;
  readonly #now: () => number;
  readonly #left = new Map<string, { amount: number; at: number }>();

  constructor(bounds: Bounds, now: () => number) {
    this.#bounds = bounds;
    this.#now = now;
  }

  /** Takes one token; returns false when none is left now. */
  take(name: string): boolean {
    const { atOnce, perSecond } = this.#bounds;
    const at = this.#now();
    const known = this.#left.get(name);
    const amount = known ? Math.min(atOnce, known.amount + ((at - known.at) * perSecond) / 1000) : atOnce;
    if (!known && this.#left.size >= MAX_NAMES) this.#forgetOldest();
    const isLeft = amount >= 1;
    this.#left.set(name, { amount: isLeft ? amount - 1 : amount, at });
    return isLeft;
  }

  #forgetOldest(): void {
    const [oldest] = this.#left.keys();
    if (oldest !== undefined) this.#left.delete(oldest);
  }
}
