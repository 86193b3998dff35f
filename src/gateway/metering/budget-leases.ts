import type { Clock } from "../../lib/clock.ts";
import type { Nanos } from "../../lib/money.ts";
import { sleep } from "../../lib/waiting.ts";
import { DependencyError } from "../dependency-error.ts";
import type { BudgetStore, Granted } from "./stores.ts";
import { beginCall, holdOf, unreserve, type BudgetLease, type Reserve } from "./budget-lease.ts";
import { ExhaustionCache, exhaustionOf, type Exhaustion, type BudgetRefusal } from "./exhaustion-cache.ts";
import { LeaseTable, USABLE_MS } from "./lease-table.ts";

/** Time for which the store is not called after a failed call. */
const UNAVAILABLE_MS = 250;
/**
 * Number of times that a request tries again to get money that other processes hold. Other processes give back unused
 * money within half a second; the attempts last about twice as long.
 */
const YIELD_ATTEMPTS = 9;
const YIELD_SLEEP_MS = 100;

/** Money reserved for one request until it is settled. */
export interface Hold {
  readonly amount: Nanos;
  readonly leases: readonly BudgetLease[];
}

/** The hold of a request that no budget limits. */
export const NO_HOLD: Hold = { amount: 0n, leases: [] };

/**
 * The leases of this process on budgets. With a lease, most requests are admitted without calling the store. The store
 * has already reserved the money of each lease, so all processes together never hold more than a budget has. When a
 * process needs money, the others give back their unused money.
 */
export class BudgetLeases {
  readonly #table: LeaseTable;
  readonly #exhaustions: ExhaustionCache;
  readonly #queues = new KeyedMutex();
  readonly #store: BudgetStore;
  readonly #processId: string;
  readonly #clock: Clock;
  readonly #sleep: (milliseconds: number) => Promise<void>;
  #unavailableUntil = 0;

  constructor(
    store: BudgetStore,
    processId: string,
    clock: Clock,
    sleepFor: (milliseconds: number) => Promise<void> = sleep,
  ) {
    this.#store = store;
    this.#processId = processId;
    this.#clock = clock;
    this.#sleep = sleepFor;
    this.#table = new LeaseTable(store, processId, clock);
    this.#exhaustions = new ExhaustionCache(clock);
  }

  /**
   * Holds `ceiling` on every budget. When the budgets cover less than `ceiling` but at least `floor`, holds the part
   * that every budget covers. Otherwise returns the reason of the refusal. Returns a promise only when the store must
   * be called. The promise rejects with a `DependencyError` when that call fails and the leases do not cover `floor`.
   */
  hold(
    budgets: readonly string[],
    ceiling: Nanos,
    floor: Nanos = ceiling,
  ): Hold | BudgetRefusal | Promise<Hold | BudgetRefusal> {
    const outcome = this.#holdLocally(budgets, ceiling, ceiling) ?? this.#knownRefusal(budgets, floor);
    if (outcome) return outcome;
    return this.#queues.run(budgets[0] ?? "", ceiling, (waiting) =>
      this.#holdFromStore(budgets, { ceiling, floor }, waiting),
    );
  }

  /** Ends a hold. `spent` stays used until its ledger entry is posted. The rest becomes available. */
  settle({ leases, amount }: Hold, spent: Nanos): void {
    // The lease may have been forgotten since the hold. Settling a forgotten lease has no effect.
    for (const lease of leases) lease.settle(amount, spent);
  }

  /** See `LeaseTable.giveBack`. */
  giveBack(): Promise<void> {
    return this.#table.giveBack();
  }

  /** See `LeaseTable.yieldContended`. */
  yieldContended(): Promise<void> {
    return this.#table.yieldContended();
  }

  /** See `LeaseTable.renew`. */
  renew(): Promise<void> {
    this.#exhaustions.prune();
    return this.#table.renew();
  }

  /** Call it after budgets were changed or removed. See `LeaseTable.revalidate`. */
  revalidate(budgets: Iterable<string>): Promise<void> {
    const changed = [...budgets];
    for (const budget of changed) this.#exhaustions.forget(budget);
    return this.#table.revalidate(changed);
  }

  /** Holds `ceiling`, or the smaller amount that the leases cover if that is at least `floor`; else returns null. */
  #holdLocally(budgets: readonly string[], ceiling: Nanos, floor: Nanos): Hold | null {
    let amount = ceiling;
    const leases: BudgetLease[] = [];
    for (const budget of budgets) {
      const lease = this.#table.usable(budget);
      if (!lease || lease.available < floor) return null;
      if (lease.available < amount) amount = lease.available;
      leases.push(lease);
    }
    const now = this.#clock.monotonic();
    for (const lease of leases) lease.hold(amount, now);
    return { amount, leases };
  }

  async #holdFromStore(
    budgets: readonly string[],
    { ceiling, floor }: { ceiling: Nanos; floor: Nanos },
    waiting: () => Nanos,
  ): Promise<Hold | BudgetRefusal> {
    for (let attempt = 0; ; attempt += 1) {
      // While this request waited, another request may have acquired enough or found the budget exhausted.
      const held = this.#holdLocally(budgets, ceiling, ceiling);
      if (held) return held;
      const known = attempt === 0 ? this.#knownRefusal(budgets, floor) : null;
      if (known) return known;
      const result = await this.#acquire(budgets, { ceiling, floor }, waiting()).catch((error: unknown) => {
        const rest = error instanceof DependencyError ? this.#holdLocally(budgets, ceiling, floor) : null;
        if (rest) return rest;
        throw error;
      });
      if ("leases" in result) return result;
      const { budget, needed, canOthersHelp, refusal } = result;
      const attempts = canOthersHelp && this.#exhaustions.isWorthWaiting(budget) ? YIELD_ATTEMPTS : 0;
      if (attempt >= attempts) {
        this.#exhaustions.note(budget, needed, refusal, attempts > 0);
        return refusal;
      }
      this.#table.markScarce(budget);
      await this.#table.giveBack([budget]);
      await this.#sleep(YIELD_SLEEP_MS);
    }
  }

  /**
   * Calls the store once for the missing amount. The available local amounts are reserved until the call ends, so that
   * no other request takes these amounts.
   */
  async #acquire(
    budgets: readonly string[],
    { ceiling, floor }: { ceiling: Nanos; floor: Nanos },
    waiting: Nanos,
  ): Promise<Hold | Exhaustion> {
    if (this.#clock.monotonic() < this.#unavailableUntil)
      throw new DependencyError("a call to the store has just failed");
    await this.#table.prepare(budgets);
    const calledAt = this.#clock.monotonic();
    const leases = budgets.map((budget) => this.#table.open(budget));
    const reserves = leases.map((lease) => lease.reserve(ceiling));
    const short = reserves.filter(({ lease, reserved }) => reserved < ceiling || !lease.isConfirmed);
    if (short.length === 0) return holdOf(reserves, ceiling);
    const requests = short.map(({ lease, reserved }) => {
      const ahead = lease.aheadOfNeed(ceiling, calledAt);
      const forOthers = lease.budget === budgets[0] ? waiting : 0n;
      return {
        budget: lease.budget,
        needed: larger(floor - reserved, 0n),
        wanted: ceiling - reserved + larger(ahead, forOthers),
      };
    });
    using _call = beginCall(short.map(({ lease }) => lease));
    const result = await this.#store.take(this.#processId, requests).catch((error: unknown) => {
      for (const { lease } of short) lease.callLost();
      unreserve(reserves);
      this.#unavailableUntil = this.#clock.monotonic() + UNAVAILABLE_MS;
      throw error;
    });
    if ("exhausted" in result) {
      unreserve(reserves);
      const needed = requests.find(({ budget }) => budget === result.exhausted)?.needed ?? 0n;
      return exhaustionOf(result, needed, this.#table.get(result.exhausted)?.promised ?? 0n);
    }
    const removed = this.#addGranted(short, result, calledAt);
    return holdOf(
      reserves.filter((part) => !removed.has(part)),
      ceiling,
    );
  }

  /** Adds the granted amounts to the reserved amounts. Returns the reserves whose budgets no longer exist. */
  #addGranted(short: readonly Reserve[], { granted, left }: Granted, calledAt: number): Set<Reserve> {
    const removed = new Set<Reserve>();
    for (const part of short) {
      const { lease, changes } = part;
      const amount = granted.get(lease.budget);
      if (amount === undefined) {
        // A budget that was removed limits nothing.
        unreserve([part]);
        this.#table.forget(lease);
        removed.add(part);
        continue;
      }
      part.reserved += amount;
      const usableUntil = calledAt + USABLE_MS;
      lease.grant(amount, { left: left.get(lease.budget) ?? 0n, usableUntil, changes });
    }
    return removed;
  }

  #knownRefusal(budgets: readonly string[], floor: Nanos): BudgetRefusal | null {
    for (const budget of budgets) {
      const refusal = this.#exhaustions.find(budget, floor - (this.#table.usable(budget)?.available ?? 0n));
      if (refusal) return refusal;
    }
    return null;
  }
}

function larger(one: Nanos, other: Nanos): Nanos {
  return one > other ? one : other;
}

/**
 * Runs the work of requests on one budget in sequence, so that a call to the store can also acquire money for waiting
 * requests. Requests on different budgets do not wait for each other.
 */
export class KeyedMutex {
  readonly #queues = new Map<string, Queue>();

  /** Runs `work` when all earlier work is done. `waiting` returns the sum that the requests after this one need. */
  async run<Result>(
    budget: string,
    amount: Nanos,
    work: (waiting: () => Nanos) => Promise<Result>,
  ): Promise<Result> {
    const queue = this.#queues.get(budget) ?? { last: Promise.resolve(), waiting: 0n, length: 0 };
    this.#queues.set(budget, queue);
    const before = queue.last;
    const { promise, resolve: leave } = Promise.withResolvers<void>();
    queue.last = promise;
    queue.length += 1;
    queue.waiting += amount;
    await before;
    queue.waiting -= amount;
    try {
      return await work(() => queue.waiting);
    } finally {
      queue.length -= 1;
      if (queue.length === 0) this.#queues.delete(budget);
      leave();
    }
  }
}

interface Queue {
  /** Resolves when the work of the last request is done; never rejects. */
  last: Promise<void>;
  waiting: Nanos;
  length: number;
}
