import type { Clock } from "../../lib/clock.ts";
import type { Nanos } from "../../lib/money.ts";
import { DependencyError, type BudgetStore } from "../ports.ts";
import { ExhaustionCache } from "./exhaustion-cache.ts";
import { aheadOfNeed, beginCall, emptyLease, reserve, unreserve, type BudgetLease } from "./budget-lease.ts";
import { KeyedMutex } from "./keyed-mutex.ts";

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
  readonly leases: readonly BudgetLease[];
}

/** The hold of a request that no budget limits. */
export const NO_HOLD: Hold = { amount: 0n, leases: [] };

/**
 * Slices of budgets held by this process, so that most requests are admitted without the store. What a slice holds
 * is already held in the store, so no number of processes can spend more than a budget has. Where a process finds
 * a budget exhausted because others hold the rest, they give back what they do not use.
 */
export class BudgetLeases {
  readonly #leases = new Map<string, BudgetLease>();
  readonly #exhaustions: ExhaustionCache;
  readonly #queues = new KeyedMutex();
  #unavailableUntil = 0;
  #isYielding = false;

  constructor(
    private readonly store: BudgetStore,
    private readonly processId: string,
    private readonly clock: Clock,
    private readonly pause: (milliseconds: number) => Promise<void> = Bun.sleep,
  ) {
    this.#exhaustions = new ExhaustionCache(clock);
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
  settle({ leases, amount }: Hold, spent: Nanos): void {
    // A slice that was forgotten meanwhile is no longer in the map; what returns to it is nobody's, as it should be.
    for (const lease of leases) lease.available += amount - spent;
  }

  /**
   * Gives what is not in use back to the store, as when this process stops. Throws a `DependencyError`; the next
   * renewal then finds out whether the money went.
   */
  async giveBack(budgets: Iterable<string> = [...this.#leases.keys()]): Promise<void> {
    const amounts = new Map<string, Nanos>();
    const leases: BudgetLease[] = [];
    for (const budget of budgets) {
      const lease = this.#leases.get(budget);
      if (!lease || lease.available <= 0n) continue;
      amounts.set(budget, lease.available);
      leases.push(lease);
      lease.acquired -= lease.available;
      lease.available = 0n;
    }
    if (leases.length === 0) return;
    using _call = beginCall(leases);
    await this.store.giveBack(this.processId, amounts);
  }

  /**
   * Gives back what others miss. To be called about every quarter of a second; asks nothing of the store while
   * this process has nothing to give, and passes over a store that cannot be asked.
   */
  async yieldContended(): Promise<void> {
    if (this.#isYielding || !this.#leases.values().some((lease) => lease.available > 0n)) return;
    this.#isYielding = true;
    try {
      const contended = await this.store.contended(this.processId);
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
    if (this.#leases.size === 0) return;
    const askedAt = this.clock.monotonic();
    const calls = new Map(
      [...this.#leases.values()].map((lease) => [lease, lease.callsUnderWay > 0 ? null : lease.calls]),
    );
    const kept = await this.store.renew(this.processId);
    for (const [lease, before] of calls) {
      const acquired = kept.get(lease.budget);
      // A slice that was drawn by a call whose answer was lost has had no end so far.
      const end = lease.usableUntil === Infinity ? 0 : lease.usableUntil;
      if (acquired !== undefined) lease.usableUntil = Math.max(end, askedAt + USABLE_MS);
      // What the store said is older than a call that ended since, or one that is still under way.
      if (lease.callsUnderWay > 0 || lease.calls !== before) continue;
      if (acquired === undefined) this.#forget(lease);
      else {
        lease.available += acquired - lease.acquired;
        lease.acquired = acquired;
      }
    }
  }

  #holdLocally(budgets: readonly string[], amount: Nanos): Hold | null {
    const now = this.clock.monotonic();
    const leases: BudgetLease[] = [];
    for (const budget of budgets) {
      const lease = this.#leases.get(budget);
      if (!lease || lease.available < amount || lease.usableUntil <= now) return null;
      leases.push(lease);
    }
    for (const lease of leases) lease.available -= amount;
    return { amount, leases };
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
      const answer = await this.#acquire(budgets, amount, waiting());
      if ("leases" in answer) return answer;
      const budget = answer.exhausted;
      const patience = answer.isHeldByOthers && this.#exhaustions.isWorthWaiting(budget) ? YIELD_ATTEMPTS : 0;
      if (attempt >= patience) {
        this.#exhaustions.note(budget, this.#missing(budget, amount), patience > 0);
        return null;
      }
      this.#markScarce(budget);
      await this.giveBack([budget]);
      await this.pause(YIELD_PAUSE_MS);
    }
  }

  /** One taking from the store of what is missing here; what is here meanwhile is out of others' reach. */
  async #acquire(budgets: readonly string[], amount: Nanos, waiting: Nanos) {
    if (this.clock.monotonic() < this.#unavailableUntil)
      throw new DependencyError("the store did not answer just now");
    // A slice that ran out may have been returned: only the store knows what is left of it.
    if (budgets.some((budget) => this.#isStale(budget))) await this.renew();
    const askedAt = this.clock.monotonic();
    const leases = budgets.map((budget) => this.#lease(budget));
    const reserves = reserve(leases, amount);
    const short = reserves.filter(({ needed }) => needed > 0n);
    if (short.length === 0) return { amount, leases };
    const requests = short.map(({ lease, needed }) => {
      const ahead = lease.scarceUntil > askedAt ? 0n : aheadOfNeed(lease, amount);
      const forOthers = lease.budget === budgets[0] ? waiting : 0n;
      return { budget: lease.budget, needed, wanted: needed + (ahead > forOthers ? ahead : forOthers) };
    });
    using _call = beginCall(short.map(({ lease }) => lease));
    const answer = await this.store.take(this.processId, requests).catch((error: unknown) => {
      unreserve(reserves);
      this.#unavailableUntil = this.clock.monotonic() + UNAVAILABLE_MS;
      throw error;
    });
    if ("exhausted" in answer) {
      unreserve(reserves);
      return answer;
    }
    const removed = new Set<BudgetLease>();
    for (const part of short) {
      const { lease, needed } = part;
      const granted = answer.granted.get(lease.budget);
      if (granted === undefined) {
        // The budget was removed, so it limits nothing.
        unreserve([part]);
        this.#forget(lease);
        removed.add(lease);
        continue;
      }
      lease.acquired += granted;
      lease.available += granted - needed;
      lease.left = answer.left.get(lease.budget) ?? 0n;
      lease.usableUntil = askedAt + USABLE_MS;
    }
    return { amount, leases: leases.filter((lease) => !removed.has(lease)) };
  }

  #isShort(budgets: readonly string[], amount: Nanos): boolean {
    return budgets.some((budget) => this.#exhaustions.lacks(budget, this.#missing(budget, amount)));
  }

  #missing(budget: string, amount: Nanos): Nanos {
    return amount - (this.#leases.get(budget)?.available ?? 0n);
  }

  #markScarce(budget: string): void {
    const lease = this.#leases.get(budget);
    if (lease) lease.scarceUntil = this.clock.monotonic() + SCARCE_MS;
  }

  #isStale(budget: string): boolean {
    return (this.#leases.get(budget)?.usableUntil ?? Infinity) <= this.clock.monotonic();
  }

  #forget(lease: BudgetLease): void {
    if (this.#leases.get(lease.budget) === lease) this.#leases.delete(lease.budget);
  }

  #lease(budget: string): BudgetLease {
    const known = this.#leases.get(budget);
    if (known) return known;
    const lease = emptyLease(budget);
    this.#leases.set(budget, lease);
    return lease;
  }
}
