import type { Clock } from "../../lib/clock.ts";
import type { Nanos } from "../../lib/money.ts";
import { DependencyError, type BudgetStore } from "../ports.ts";
import { Shortages } from "./shortages.ts";
import { aheadOfNeed, beginCall, emptySlice, reserve, unreserve, type Slice } from "./slice.ts";
import { TakingQueues } from "./taking-queues.ts";

/** How long the store is left alone after it could not be asked. */
const UNAVAILABLE_MS = 250;
/** A slice is not used in its last minute, before the store may return it. */
const USABLE_MS = 14 * 60_000;
/** After others missed money of a budget: how long no more of it is drawn than requests need. */
const SCARCE_MS = 5000;
/** Others give back within half a second; a refusal waits for them twice that long. */
const YIELD_ATTEMPTS = 9;
const YIELD_PAUSE_MS = 100;

/** Money set aside for one request until it is settled. */
export interface Hold {
  readonly amount: Nanos;
  readonly slices: readonly Slice[];
}

/** The hold of a request that no budget limits. */
export const NO_HOLD: Hold = { amount: 0n, slices: [] };

/**
 * Slices of budgets held by this process, so that most requests are admitted without the store. What a slice holds
 * is already held in the store, so no number of processes can spend more than a budget has. Where a process finds
 * a budget exhausted because others hold the rest, they give back what they do not use.
 */
export class Leases {
  readonly #slices = new Map<string, Slice>();
  readonly #shortages: Shortages;
  readonly #queues = new TakingQueues();
  #unavailableUntil = 0;
  #isYielding = false;

  constructor(
    private readonly store: BudgetStore,
    private readonly lease: string,
    private readonly clock: Clock,
    private readonly pause: (milliseconds: number) => Promise<void> = Bun.sleep,
  ) {
    this.#shortages = new Shortages(clock);
  }

  /**
   * Sets `amount` of every budget aside; null when one has not that much left. A promise only where the store has
   * to be asked; it rejects with a `DependencyError` when that fails.
   */
  hold(budgets: readonly string[], amount: Nanos): Hold | null | Promise<Hold | null> {
    const held = this.#holdLocally(budgets, amount);
    if (held) return held;
    if (this.#isShort(budgets, amount)) return null;
    return this.#queues.run(budgets[0] ?? "", amount, (waiting) =>
      this.#holdFromStore(budgets, amount, waiting),
    );
  }

  /** Ends a hold: `spent` is gone (the store learns it with the ledger), the rest is free again. */
  settle({ slices, amount }: Hold, spent: Nanos): void {
    // A slice that was forgotten meanwhile is no longer in the map; what returns to it is nobody's, as it should be.
    for (const slice of slices) slice.available += amount - spent;
  }

  /**
   * Gives what is not in use back to the store, as when this process stops. Throws a `DependencyError`; the next
   * renewal then finds out whether the money went.
   */
  async giveBack(budgets: Iterable<string> = [...this.#slices.keys()]): Promise<void> {
    const amounts = new Map<string, Nanos>();
    const slices: Slice[] = [];
    for (const budget of budgets) {
      const slice = this.#slices.get(budget);
      if (!slice || slice.available <= 0n) continue;
      amounts.set(budget, slice.available);
      slices.push(slice);
      slice.drawn -= slice.available;
      slice.available = 0n;
    }
    if (slices.length === 0) return;
    using _call = beginCall(slices);
    await this.store.giveBack(this.lease, amounts);
  }

  /**
   * Gives back what others miss. To be called about every quarter of a second; asks nothing of the store while
   * this process has nothing to give, and passes over a store that cannot be asked.
   */
  async yieldContended(): Promise<void> {
    if (this.#isYielding || !this.#slices.values().some((slice) => slice.available > 0n)) return;
    this.#isYielding = true;
    try {
      const contended = await this.store.contended(this.lease);
      for (const budget of contended) this.#markScarce(budget);
      await this.giveBack(contended);
    } catch (error) {
      if (!(error instanceof DependencyError)) throw error;
    } finally {
      this.#isYielding = false;
    }
  }

  /**
   * Keeps the lease alive and learns what the store has made of it: calls whose answers were lost, slices it took
   * back. To be called about every 30 seconds. Throws a `DependencyError`.
   */
  async renew(): Promise<void> {
    if (this.#slices.size === 0) return;
    const askedAt = this.clock.monotonic();
    const calls = new Map(
      [...this.#slices.values()].map((slice) => [slice, slice.callsUnderWay > 0 ? null : slice.calls]),
    );
    const kept = await this.store.renew(this.lease);
    for (const [slice, before] of calls) {
      const drawn = kept.get(slice.budget);
      // A slice that was drawn by a call whose answer was lost has had no end so far.
      const end = slice.usableUntil === Infinity ? 0 : slice.usableUntil;
      if (drawn !== undefined) slice.usableUntil = Math.max(end, askedAt + USABLE_MS);
      // What the store said is older than a call that ended since, or one that is still under way.
      if (slice.callsUnderWay > 0 || slice.calls !== before) continue;
      if (drawn === undefined) this.#forget(slice);
      else {
        slice.available += drawn - slice.drawn;
        slice.drawn = drawn;
      }
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

  async #holdFromStore(
    budgets: readonly string[],
    amount: Nanos,
    waiting: () => Nanos,
  ): Promise<Hold | null> {
    for (let attempt = 0; ; attempt += 1) {
      // Another request may have drawn enough, or met the end, while this one waited.
      const held = this.#holdLocally(budgets, amount);
      if (held) return held;
      if (attempt === 0 && this.#isShort(budgets, amount)) return null;
      const answer = await this.#draw(budgets, amount, waiting());
      if ("slices" in answer) return answer;
      const budget = answer.exhausted;
      const patience = answer.isHeldByOthers && this.#shortages.isWorthWaiting(budget) ? YIELD_ATTEMPTS : 0;
      if (attempt >= patience) {
        this.#shortages.note(budget, this.#missing(budget, amount), patience > 0);
        return null;
      }
      this.#markScarce(budget);
      await this.giveBack([budget]);
      await this.pause(YIELD_PAUSE_MS);
    }
  }

  /** One taking from the store of what is missing here; what is here meanwhile is out of others' reach. */
  async #draw(budgets: readonly string[], amount: Nanos, waiting: Nanos) {
    if (this.clock.monotonic() < this.#unavailableUntil)
      throw new DependencyError("the store did not answer just now");
    // A slice that ran out may have been returned: only the store knows what is left of it.
    if (budgets.some((budget) => this.#isStale(budget))) await this.renew();
    const askedAt = this.clock.monotonic();
    const slices = budgets.map((budget) => this.#slice(budget));
    const reserves = reserve(slices, amount);
    const short = reserves.filter(({ needed }) => needed > 0n);
    if (short.length === 0) return { amount, slices };
    const wishes = short.map(({ slice, needed }) => {
      const ahead = slice.scarceUntil > askedAt ? 0n : aheadOfNeed(slice, amount);
      const forOthers = slice.budget === budgets[0] ? waiting : 0n;
      return { budget: slice.budget, needed, wanted: needed + (ahead > forOthers ? ahead : forOthers) };
    });
    using _call = beginCall(short.map(({ slice }) => slice));
    const answer = await this.store.take(this.lease, wishes).catch((error: unknown) => {
      unreserve(reserves);
      this.#unavailableUntil = this.clock.monotonic() + UNAVAILABLE_MS;
      throw error;
    });
    if ("exhausted" in answer) {
      unreserve(reserves);
      return answer;
    }
    const removed = new Set<Slice>();
    for (const part of short) {
      const { slice, needed } = part;
      const granted = answer.granted.get(slice.budget);
      if (granted === undefined) {
        // The budget was removed, so it limits nothing.
        unreserve([part]);
        this.#forget(slice);
        removed.add(slice);
        continue;
      }
      slice.drawn += granted;
      slice.available += granted - needed;
      slice.left = answer.left.get(slice.budget) ?? 0n;
      slice.usableUntil = askedAt + USABLE_MS;
    }
    return { amount, slices: slices.filter((slice) => !removed.has(slice)) };
  }

  #isShort(budgets: readonly string[], amount: Nanos): boolean {
    return budgets.some((budget) => this.#shortages.lacks(budget, this.#missing(budget, amount)));
  }

  #missing(budget: string, amount: Nanos): Nanos {
    return amount - (this.#slices.get(budget)?.available ?? 0n);
  }

  #markScarce(budget: string): void {
    const slice = this.#slices.get(budget);
    if (slice) slice.scarceUntil = this.clock.monotonic() + SCARCE_MS;
  }

  #isStale(budget: string): boolean {
    return (this.#slices.get(budget)?.usableUntil ?? Infinity) <= this.clock.monotonic();
  }

  #forget(slice: Slice): void {
    if (this.#slices.get(slice.budget) === slice) this.#slices.delete(slice.budget);
  }

  #slice(budget: string): Slice {
    const known = this.#slices.get(budget);
    if (known) return known;
    const slice = emptySlice(budget);
    this.#slices.set(budget, slice);
    return slice;
  }
}
