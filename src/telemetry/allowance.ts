interface Bounds {
  atOnce: number;
  perSecond: number;
}

/** Names that are remembered; of the least recent, one more burst is allowed. */
const MAX_NAMES = 10_000;

/** How much each name may take: so much at once, and then so much a second (token buckets). */
export class Allowance {
  readonly #bounds: Bounds;
  readonly #now: () => number;
  readonly #left = new Map<string, { amount: number; at: number }>();

  constructor(bounds: Bounds, now: () => number) {
    this.#bounds = bounds;
    this.#now = now;
  }

  /** Takes one; false when nothing is left now. */
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
