import type { Clock } from "../../lib/clock.ts";
import type { Nanos } from "../../lib/money.ts";
import { DependencyError } from "../dependency-error.ts";
import type { BudgetStore } from "./stores.ts";
import { beginCall, emptyLease, type BudgetLease } from "./budget-lease.ts";

/** A lease is not used in its last minute, because the store counts it as in doubt afterwards. */
export const USABLE_MS = 14 * 60_000;
/** Time for which only needed amounts are acquired after other processes lacked money of a budget. */
const SCARCE_MS = 5000;
/** A lease that no request has used for this long is returned. */
const IDLE_MS = 5 * 60_000;
const LEASES_A_TURN = 250;

/** The leases of this process, kept consistent with the store. */
export class LeaseTable {
  readonly #leases = new Map<string, BudgetLease>();
  /** Leases of budgets that were changed since the store last granted a part of them. */
  readonly #unconfirmed = new Set<BudgetLease>();
  readonly #store: BudgetStore;
  readonly #processId: string;
  readonly #clock: Clock;
  #isYielding = false;
  /** The last renewal of single leases; the next one waits for it. */
  #renewal: Promise<void> = Promise.resolve();

  constructor(store: BudgetStore, processId: string, clock: Clock) {
    this.#store = store;
    this.#processId = processId;
    this.#clock = clock;
  }

  /** Returns a lease from which requests may take without calling the store. */
  usable(budget: string): BudgetLease | undefined {
    const lease = this.#leases.get(budget);
    if (!lease || lease.usableUntil <= this.#clock.monotonic() || this.#unconfirmed.has(lease))
      return undefined;
    return lease;
  }

  get(budget: string): BudgetLease | undefined {
    return this.#leases.get(budget);
  }

  /** Returns the lease of a budget, an empty one when there was none. */
  open(budget: string): BudgetLease {
    const lease = this.#leases.get(budget) ?? emptyLease(budget);
    this.#leases.set(budget, lease);
    lease.usedAt = this.#clock.monotonic();
    return lease;
  }

  forget(lease: BudgetLease): void {
    this.#unconfirmed.delete(lease);
    if (this.#leases.get(lease.budget) === lease) this.#leases.delete(lease.budget);
  }

  /** True when the store must be called before the lease is used. */
  isUnconfirmed(lease: BudgetLease): boolean {
    return this.#unconfirmed.has(lease);
  }

  /** Notes that the store has granted a part of the budget as of `changes`. */
  confirm(lease: BudgetLease, changes: number): void {
    if (lease.changes === changes) this.#unconfirmed.delete(lease);
  }

  markScarce(budget: string): void {
    const lease = this.#leases.get(budget);
    if (lease) lease.scarceUntil = this.#clock.monotonic() + SCARCE_MS;
  }

  /**
   * Prepares the leases of some budgets for a call that acquires more. Renews leases that ran out, are in debt or have
   * a call whose result was lost, and gives back the amounts that a changed budget may no longer cover.
   */
  async prepare(budgets: readonly string[]): Promise<void> {
    const now = this.#clock.monotonic();
    const unclear: string[] = [];
    for (const budget of budgets) {
      const lease = this.#leases.get(budget);
      if (!lease) continue;
      lease.usedAt = now;
      // The charge behind a debt may have been posted meanwhile; the store then counts it itself.
      if (lease.isUnclear || lease.usableUntil <= now || lease.available < 0n) unclear.push(budget);
    }
    if (unclear.length > 0) await this.#inTurn(() => this.#renew(unclear));
    if (this.#unconfirmed.size > 0)
      await this.giveBack(budgets.filter((budget) => this.#isUnconfirmed(budget)));
  }

  /**
   * Gives unused amounts back to the store, also when this process stops. Throws a `DependencyError`; the next renewal
   * then finds out whether the call took effect.
   */
  async giveBack(budgets: Iterable<string> = [...this.#leases.keys()]): Promise<void> {
    const leases: BudgetLease[] = [];
    for (const budget of budgets) {
      const lease = this.#leases.get(budget);
      if (lease && lease.available > 0n) leases.push(lease);
    }
    if (leases.length === 0) return;
    const amounts = emptied(leases);
    using _call = beginCall(leases);
    await this.#store.giveBack(this.#processId, amounts);
  }

  /** Stops the use of changed budgets until the store has granted their leases anew. */
  async revalidate(budgets: Iterable<string>): Promise<void> {
    const changed: string[] = [];
    for (const budget of budgets) {
      const lease = this.#leases.get(budget);
      if (!lease) continue;
      changed.push(budget);
      lease.changes += 1;
      lease.left = 0n;
      this.#unconfirmed.add(lease);
    }
    await this.giveBack(changed);
  }

  /**
   * Gives back amounts that other processes lack and amounts that running requests have returned of changed budgets.
   * Call it about every quarter of a second: it does not call the store while there is nothing to give, and does
   * nothing while the store is unavailable.
   */
  async yieldContended(): Promise<void> {
    if (this.#isYielding || !this.#leases.values().some((lease) => lease.available > 0n)) return;
    this.#isYielding = true;
    try {
      const contended = await this.#store.contended(this.#processId);
      for (const budget of contended) this.markScarce(budget);
      await this.giveBack(new Set([...contended, ...this.#unconfirmed.values().map(({ budget }) => budget)]));
    } catch (error) {
      if (!(error instanceof DependencyError)) throw error;
    } finally {
      this.#isYielding = false;
    }
  }

  /**
   * Returns idle leases, prolongs the others and reads their state in the store: lost results of calls, leases that
   * were written off. Call it about every 30 seconds. Throws a `DependencyError`.
   */
  async renew(): Promise<void> {
    const now = this.#clock.monotonic();
    const idle = [...this.#leases.values()].filter((lease) => isIdle(lease, now));
    for (const page of pagesOf(idle)) await this.#inTurn(() => this.#closeIdle(page));
    for (const page of pagesOf([...this.#leases.keys()])) await this.#inTurn(() => this.#renew(page));
  }

  #isUnconfirmed(budget: string): boolean {
    const lease = this.#leases.get(budget);
    return lease !== undefined && this.#unconfirmed.has(lease);
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const run = this.#renewal.then(work);
    this.#renewal = run.catch(() => {});
    return run;
  }

  async #closeIdle(page: readonly BudgetLease[]): Promise<void> {
    const now = this.#clock.monotonic();
    const idle = page.filter((lease) => this.#leases.get(lease.budget) === lease && isIdle(lease, now));
    if (idle.length === 0) return;
    // Only a renewal shows the result of this call, so no request may use them until then.
    for (const lease of idle) lease.usableUntil = -Infinity;
    const amounts = emptied(idle);
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
    const calls = new Map(leases.map((lease) => [lease, lease.callsUnderWay > 0 ? null : lease.calls]));
    const kept = await this.#store.renew(
      this.#processId,
      leases.map(({ budget }) => budget),
    );
    for (const [lease, before] of calls) {
      const acquired = kept.get(lease.budget);
      // The end of a lease acquired by a call whose result was lost is not known yet.
      const end = lease.usableUntil === Infinity ? 0 : lease.usableUntil;
      if (acquired !== undefined) lease.usableUntil = Math.max(end, calledAt + USABLE_MS);
      // The returned state is older than a call that has ended since, or one that is still running.
      if (lease.callsUnderWay > 0 || lease.calls !== before) continue;
      lease.isUnclear = false;
      if (acquired === undefined) this.forget(lease);
      else {
        lease.available += acquired - lease.acquired;
        lease.acquired = acquired;
      }
    }
  }
}

function isIdle({ available, promised, callsUnderWay, usedAt }: BudgetLease, now: number): boolean {
  return usedAt + IDLE_MS <= now && available >= 0n && promised === 0n && callsUnderWay === 0;
}

/** Yields pages small enough that a request waiting for its turn is not delayed. */
function* pagesOf<T>(items: readonly T[]): Generator<T[]> {
  for (let start = 0; start < items.length; start += LEASES_A_TURN)
    yield items.slice(start, start + LEASES_A_TURN);
}

/** Takes all that is available out of the leases. Returns the amounts by budget. */
function emptied(leases: readonly BudgetLease[]): Map<string, Nanos> {
  const amounts = new Map<string, Nanos>();
  for (const lease of leases) {
    amounts.set(lease.budget, lease.available);
    lease.acquired -= lease.available;
    lease.available = 0n;
  }
  return amounts;
}
