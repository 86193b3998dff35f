import type { Nanos } from "../../lib/money.ts";
import type { Clock } from "../../lib/clock.ts";
import type { BudgetStore } from "../ports.ts";

/** How long an exhausted budget is answered from memory, so that a flood of refusals spares the store. */
const EXHAUSTED_MS = 250;
/** A slice is not used in its last minute, before the store may take it back. */
const USABLE_MS = 14 * 60_000;
/** Share of what is left that a process takes ahead of need. */
const SLICE_DIVISOR = 8n;

interface Slice {
  readonly budget: string;
  /** Taken from the store and not promised to any request. */
  available: Nanos;
  /** What the store had left when it was last asked. */
  left: Nanos;
  /** Monotonic milliseconds until which it may be used. */
  usableUntil: number;
}

/** Money set aside for one request until it is settled. */
export interface Hold {
  readonly amount: Nanos;
  readonly slices: readonly Slice[];
}

/** The hold of a request that no budget limits. */
export const NO_HOLD: Hold = { amount: 0n, slices: [] };

/**
 * Slices of budgets held by this process, so that most requests are admitted without the store. What a slice holds
 * is already held in the store, so no number of processes can spend more than a budget has. A slice is an eighth
 * of what is left: near its end a budget is granted request by request.
 */
export class Leases {
  readonly #slices = new Map<string, Slice>();
  readonly #exhaustedUntil = new Map<string, number>();
  #queue: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly store: BudgetStore,
    private readonly lease: string,
    private readonly clock: Clock,
  ) {}

  /**
   * Sets `amount` of every budget aside; null when one has not that much left. A promise only where the store has
   * to be asked; it rejects with a `DependencyError` when that fails.
   */
  hold(budgets: readonly string[], amount: Nanos): Hold | null | Promise<Hold | null> {
    const held = this.#holdLocally(budgets, amount);
    if (held) return held;
    if (this.#isExhausted(budgets)) return null;
    const asked = this.#queue.then(() => this.#holdFromStore(budgets, amount));
    this.#queue = asked.catch(() => {});
    return asked;
  }

  /** Ends a hold: `spent` is gone (the store learns it with the ledger), the rest is free again. */
  settle({ slices, amount }: Hold, spent: Nanos): void {
    // A slice that ran out meanwhile is no longer in the map; what returns to it is nobody's, as it should be.
    for (const slice of slices) slice.available += amount - spent;
  }

  /** Gives what is not in use back to the store, as when another process needs it or this one stops. */
  async giveBack(budgets: Iterable<string> = [...this.#slices.keys()]): Promise<void> {
    const amounts = new Map<string, Nanos>();
    for (const budget of budgets) {
      const slice = this.#slices.get(budget);
      if (!slice || slice.available <= 0n) continue;
      amounts.set(budget, slice.available);
      slice.available = 0n;
      slice.left = 0n;
    }
    if (amounts.size > 0) await this.store.giveBack(this.lease, amounts);
  }

  /** Keeps the lease alive; forgets slices the store has taken back. To be called about every 30 seconds. */
  async renew(): Promise<void> {
    if (this.#slices.size === 0) return;
    const askedAt = this.clock.monotonic();
    const kept = await this.store.renew(this.lease);
    for (const [budget, slice] of this.#slices) {
      if (kept.has(budget)) slice.usableUntil = Math.max(slice.usableUntil, askedAt + USABLE_MS);
      else if (slice.usableUntil < askedAt + USABLE_MS) this.#slices.delete(budget);
    }
  }

  #holdLocally(budgets: readonly string[], amount: Nanos): Hold | null {
    const now = this.clock.monotonic();
    const slices: Slice[] = [];
    for (const budget of budgets) {
      const slice = this.#slices.get(budget);
      if (!slice || slice.available < amount || slice.usableUntil <= now) return null;
      slices.push(slice);
    }
    for (const slice of slices) slice.available -= amount;
    return { amount, slices };
  }

  async #holdFromStore(budgets: readonly string[], amount: Nanos): Promise<Hold | null> {
    // Another request may have refilled the slices, or met the end, while this one waited its turn.
    const held = this.#holdLocally(budgets, amount);
    if (held) return held;
    if (this.#isExhausted(budgets)) return null;
    const askedAt = this.clock.monotonic();
    const wishes = budgets.map((budget) => this.#wish(budget, amount, askedAt)).filter(({ needed }) => needed > 0n);
    const answer = await this.store.take(this.lease, wishes);
    if ("exhausted" in answer) {
      this.#exhaustedUntil.set(answer.exhausted, this.clock.monotonic() + EXHAUSTED_MS);
      return null;
    }
    for (const [budget, granted] of answer.granted) {
      const slice = this.#slice(budget);
      slice.available += granted;
      slice.left = answer.left.get(budget) ?? 0n;
      slice.usableUntil = askedAt + USABLE_MS;
    }
    return this.#holdLocally(budgets, amount);
  }

  #wish(budget: string, amount: Nanos, now: number): { budget: string; needed: Nanos; wanted: Nanos } {
    const known = this.#slices.get(budget);
    if (known && known.usableUntil <= now) this.#slices.delete(budget);
    const { available, left } = this.#slice(budget);
    const needed = amount - available;
    return { budget, needed, wanted: needed + left / SLICE_DIVISOR };
  }

  #isExhausted(budgets: readonly string[]): boolean {
    const now = this.clock.monotonic();
    return budgets.some((budget) => (this.#exhaustedUntil.get(budget) ?? 0) > now);
  }

  #slice(budget: string): Slice {
    const known = this.#slices.get(budget);
    if (known) return known;
    const slice: Slice = { budget, available: 0n, left: 0n, usableUntil: Infinity };
    this.#slices.set(budget, slice);
    return slice;
  }
}
