import type { Clock } from "../../lib/clock.ts";
import { DependencyError } from "../dependency-error.ts";
import type { BudgetStore } from "./stores.ts";
import { beginCall, BudgetLease } from "./budget-lease.ts";

/** A lease lasts 15 minutes. Its last minute is not used, because the store regards an ended lease as in doubt. */
export const USABLE_MS = 14 * 60_000;
/** Time for which a lease acquires only needed amounts, after other processes lacked money of its budget. */
const SCARCE_MS = 5000;
/** Time after which a lease that no request uses is given back to the store. */
const IDLE_MS = 5 * 60_000;
const LEASES_A_TURN = 250;

/** All leases of this process on budgets. The table keeps the leases consistent with the store. */
export class LeaseTable {
  readonly #leases = new Map<string, BudgetLease>();
  readonly #store: BudgetStore;
  readonly #processId: string;
  readonly #clock: Clock;
  #isYielding = false;
  /** The running or last `#renew` or `#closeIdle`. The next call of either method waits for this promise. */
  #renewal: Promise<void> = Promise.resolve();

  constructor(store: BudgetStore, processId: string, clock: Clock) {
    this.#store = store;
    this.#processId = processId;
    this.#clock = clock;
  }

  /** Returns the budget's lease if requests may take from it without calling the store. */
  usable(budget: string): BudgetLease | undefined {
    const lease = this.#leases.get(budget);
    return lease?.isUsable(this.#clock.monotonic()) ? lease : undefined;
  }

  get(budget: string): BudgetLease | undefined {
    return this.#leases.get(budget);
  }

  /** Returns the lease of a budget. Adds an empty lease if the budget has none. */
  open(budget: string): BudgetLease {
    const lease = this.#leases.get(budget) ?? new BudgetLease(budget);
    this.#leases.set(budget, lease);
    lease.touch(this.#clock.monotonic());
    return lease;
  }

  forget(lease: BudgetLease): void {
    if (this.#leases.get(lease.budget) === lease) this.#leases.delete(lease.budget);
  }

  markScarce(budget: string): void {
    this.#leases.get(budget)?.markScarce(this.#clock.monotonic() + SCARCE_MS);
  }

  /**
   * Prepares the leases of these budgets for a call that acquires more. Renews leases that have ended, are in debt, or
   * had a call whose result was lost. Gives back amounts of changed budgets, which may no longer cover them.
   */
  async prepare(budgets: readonly string[]): Promise<void> {
    const now = this.#clock.monotonic();
    const unclear: string[] = [];
    for (const budget of budgets) {
      const lease = this.#leases.get(budget);
      if (!lease) continue;
      lease.touch(now);
      if (lease.needsRenewal(now)) unclear.push(budget);
    }
    if (unclear.length > 0) await this.#inTurn(() => this.#renew(unclear));
    await this.giveBack(budgets.filter((budget) => this.#leases.get(budget)?.isConfirmed === false));
  }

  /**
   * Gives back to the store the available amounts of these budgets' leases, by default of all leases. Throws a
   * `DependencyError`. After an error, the next renewal shows whether the call took effect.
   */
  async giveBack(budgets: Iterable<string> = [...this.#leases.keys()]): Promise<void> {
    const leases: BudgetLease[] = [];
    for (const budget of budgets) {
      const lease = this.#leases.get(budget);
      if (lease && lease.available > 0n) leases.push(lease);
    }
    if (leases.length === 0) return;
    const amounts = new Map(leases.map((lease) => [lease.budget, lease.empty()]));
    using _call = beginCall(leases);
    await this.#store.giveBack(this.#processId, amounts);
  }

  /** Stops the use of leases on changed budgets until the store has granted amounts of these budgets again. */
  async revalidate(budgets: Iterable<string>): Promise<void> {
    const changed: string[] = [];
    for (const budget of budgets) {
      const lease = this.#leases.get(budget);
      if (!lease) continue;
      changed.push(budget);
      lease.budgetChanged();
    }
    await this.giveBack(changed);
  }

  /**
   * Gives back amounts that other processes lack. Gives back amounts of changed budgets after running requests have
   * released them. Call this method about every quarter of a second. It calls the store only while a lease has an
   * available amount. It does not throw when the store is unavailable.
   */
  async yieldContended(): Promise<void> {
    if (this.#isYielding || !this.#leases.values().some((lease) => lease.available > 0n)) return;
    this.#isYielding = true;
    try {
      const contended = await this.#store.contended(this.#processId);
      for (const budget of contended) this.markScarce(budget);
      const changed = [...this.#leases.values()].filter((lease) => !lease.isConfirmed);
      await this.giveBack(new Set([...contended, ...changed.map(({ budget }) => budget)]));
    } catch (error) {
      if (!(error instanceof DependencyError)) throw error;
    } finally {
      this.#isYielding = false;
    }
  }

  /**
   * Gives idle leases back to the store, prolongs the other leases and reads their state. The state shows leases that
   * were written off, and the outcome of calls whose result was lost. Call this method about every 30 seconds. Throws a
   * `DependencyError`.
   */
  async renew(): Promise<void> {
    const now = this.#clock.monotonic();
    const idle = [...this.#leases.values()].filter((lease) => lease.isIdle(now, IDLE_MS));
    for (const page of pagesOf(idle)) await this.#inTurn(() => this.#closeIdle(page));
    for (const page of pagesOf([...this.#leases.keys()])) await this.#inTurn(() => this.#renew(page));
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const run = this.#renewal.then(work);
    this.#renewal = run.catch(() => {});
    return run;
  }

  async #closeIdle(page: readonly BudgetLease[]): Promise<void> {
    const now = this.#clock.monotonic();
    const idle = page.filter(
      (lease) => this.#leases.get(lease.budget) === lease && lease.isIdle(now, IDLE_MS),
    );
    if (idle.length === 0) return;
    // No request may use these leases until a renewal, because only a renewal shows the result of this call.
    for (const lease of idle) lease.suspend();
    const amounts = new Map(idle.map((lease) => [lease.budget, lease.empty()]));
    {
      using _call = beginCall(idle);
      await this.#store.close(this.#processId, amounts);
    }
    await this.#renew(idle.map(({ budget }) => budget));
  }

  async #renew(budgets: readonly string[]): Promise<void> {
    const leases = budgets.flatMap((budget) => this.#leases.get(budget) ?? []);
    if (leases.length === 0) return;
    const calledAt = this.#clock.monotonic();
    const calls = new Map(leases.map((lease) => [lease, lease.callsBefore()]));
    const kept = await this.#store.renew(
      this.#processId,
      leases.map(({ budget }) => budget),
    );
    for (const [lease, before] of calls) {
      if (lease.renewed(kept.get(lease.budget), calledAt + USABLE_MS, before)) this.forget(lease);
    }
  }
}

/** Yields pages that are small enough not to delay a request that waits for the store. */
function* pagesOf<T>(items: readonly T[]): Generator<T[]> {
  for (let start = 0; start < items.length; start += LEASES_A_TURN)
    yield items.slice(start, start + LEASES_A_TURN);
}
