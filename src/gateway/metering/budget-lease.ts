import type { Nanos } from "../../lib/money.ts";

/**
 * The part of a budget that this process has acquired from the store. `available` is the acquired amount minus the
 * holds of running requests and the costs of ended requests.
 *
 * The states of a lease, and the store calls and times that change them:
 *
 *                    budget changed                     take
 *              +------------------------> unconfirmed ---------> usable
 *       take   |     result of a take lost              renew
 *     empty --> usable -----------------> unclear -------------> usable or forgotten
 *              |     14 minutes, or 5 unused (close)    renew
 *              +------------------------> expired -------------> usable or forgotten
 *
 * Requests take from usable and from unclear leases, but an unclear lease acquires nothing more before its renewal. A
 * lease is forgotten when the store no longer has it (it was closed or written off) or when its budget was removed.
 * `BudgetLeases` holds, settles and takes from the store. `LeaseTable` renews leases and returns amounts.
 */
export class BudgetLease {
  readonly budget: string;
  #available: Nanos = 0n;
  /** The sum of the holds of running requests. */
  #promised: Nanos = 0n;
  /** The amount acquired from the store so far, minus the amount given back. */
  #acquired: Nanos = 0n;
  /** The amount that the budget had left in the store after the last grant; 0 after a change of the budget. */
  #left: Nanos = 0n;
  /** Monotonic milliseconds until which the lease may be used: a minute before the store regards it as in doubt. */
  #usableUntil = Infinity;
  /** Monotonic milliseconds until which only needed amounts are acquired, because other processes lack money. */
  #scarceUntil = 0;
  /** Monotonic milliseconds at which a request last held money of the lease or tried to. */
  #usedAt = 0;
  /** Number of changes of the budget by administrators. The last grant has considered `#confirmedChanges` of these. */
  #changes = 0;
  #confirmedChanges = 0;
  /** True when the result of an acquiring call was lost. Only the store knows the effect of that call. */
  #isUnclear = false;
  /** Number of running calls to the store that change `#acquired`. `#calls` is the number of ended calls. */
  #callsUnderWay = 0;
  #calls = 0;

  constructor(budget: string) {
    this.budget = budget;
  }

  /** The amount that no request holds. It may be negative, because requests may cost more than they held. */
  get available(): Nanos {
    return this.#available;
  }

  get promised(): Nanos {
    return this.#promised;
  }

  /** False when the budget was changed since the store last granted a part of it. */
  get isConfirmed(): boolean {
    return this.#changes === this.#confirmedChanges;
  }

  /** True when requests may use the lease without a call to the store. */
  isUsable(now: number): boolean {
    return this.#usableUntil > now && this.isConfirmed;
  }

  /** True when the lease must be renewed before it acquires more. */
  needsRenewal(now: number): boolean {
    // A negative amount means that a charge exceeded the lease. Once that charge is posted, a renewal adds the excess.
    return this.#isUnclear || this.#usableUntil <= now || this.#available < 0n;
  }

  /** True when the lease has no debt, no hold and no open call, and no request has used it for `idleMs`. */
  isIdle(now: number, idleMs: number): boolean {
    const isUnused = this.#available >= 0n && this.#promised === 0n && this.#callsUnderWay === 0;
    return isUnused && this.#usedAt + idleMs <= now;
  }

  /**
   * Returns the amount to acquire beyond the present need. It is a share of the amount left in the budget, in multiples
   * of `amount`, so that no process keeps a rest too small for a request. Returns 0 while other processes lack money.
   */
  aheadOfNeed(amount: Nanos, now: number): Nanos {
    if (this.#scarceUntil > now) return 0n;
    const share = this.#left / LEASE_DIVISOR;
    return amount > 0n ? share - (share % amount) : share;
  }

  /** Records that a request uses the lease, so that the lease does not become idle. */
  touch(now: number): void {
    this.#usedAt = now;
  }

  /** Until the given time, the lease acquires only what requests need. */
  markScarce(until: number): void {
    this.#scarceUntil = until;
  }

  /** Moves an available amount to the holds. */
  hold(amount: Nanos, now: number): void {
    this.#available -= amount;
    this.#promised += amount;
    this.#usedAt = now;
  }

  /** Ends a hold of `amount`. The part `spent` is not available again. */
  settle(amount: Nanos, spent: Nanos): void {
    this.#promised -= amount;
    this.#available += amount - spent;
  }

  /** Takes the available amount, at most `amount`, so that no other request can use it. */
  reserve(amount: Nanos): Reserve {
    const reserved = this.#available < amount ? this.#available : amount;
    this.#available -= reserved;
    return { lease: this, reserved, changes: this.#changes };
  }

  /** Ends a reserve. `amount` of the reserve becomes a hold of the request, and the rest becomes available. */
  release(reserved: Nanos, amount: Nanos = 0n): void {
    this.#available += reserved - amount;
    this.#promised += amount;
  }

  /** Removes the available amount, to return it to the store. Returns the removed amount. */
  empty(): Nanos {
    const amount = this.#available;
    this.#acquired -= amount;
    this.#available = 0n;
    return amount;
  }

  /** Adds an amount granted by the store. `changes` is the number of changes before the call to the store. */
  grant(amount: Nanos, { left, usableUntil, changes }: GrantTerms): void {
    this.#acquired += amount;
    this.#left = left;
    this.#usableUntil = usableUntil;
    if (this.#changes === changes) this.#confirmedChanges = changes;
  }

  /** Records a change of the budget. The lease is not used until the next grant of the store. */
  budgetChanged(): void {
    this.#changes += 1;
    this.#left = 0n;
  }

  /** Makes the lease unusable until it is renewed. */
  suspend(): void {
    this.#usableUntil = -Infinity;
  }

  callBegins(): void {
    this.#callsUnderWay += 1;
  }

  callEnds(): void {
    this.#callsUnderWay -= 1;
    this.#calls += 1;
  }

  callLost(): void {
    this.#isUnclear = true;
  }

  /** Returns the number of ended calls, which `renewed` needs; null while a call is running. */
  callsBefore(): number | null {
    return this.#callsUnderWay > 0 ? null : this.#calls;
  }

  /**
   * Applies a renewal. `acquired` is the amount that the store has recorded for the lease; undefined when the store no
   * longer has the lease. Returns true when the lease must be forgotten.
   */
  renewed(acquired: Nanos | undefined, usableUntil: number, callsBefore: number | null): boolean {
    // `Infinity` means that the time is not known yet, because the result of the first take was lost.
    const end = this.#usableUntil === Infinity ? 0 : this.#usableUntil;
    if (acquired !== undefined) this.#usableUntil = Math.max(end, usableUntil);
    // If another call is running or has ended since the renewal began, `acquired` may be outdated.
    if (this.#callsUnderWay > 0 || this.#calls !== callsBefore) return false;
    this.#isUnclear = false;
    if (acquired === undefined) return true;
    this.#available += acquired - this.#acquired;
    this.#acquired = acquired;
    return false;
  }
}

const LEASE_DIVISOR = 8n;

interface GrantTerms {
  left: Nanos;
  usableUntil: number;
  changes: number;
}

/** The amount that a request has reserved from one lease, before it calls the store for the missing amount. */
export interface Reserve {
  readonly lease: BudgetLease;
  /** The amount taken from `available`; negative when the lease is in debt. The granted amount is added. */
  reserved: Nanos;
  /** Number of changes of the budget when the amount was reserved. */
  readonly changes: number;
}

/** Makes all reserved amounts available again. */
export function unreserve(reserves: readonly Reserve[]): void {
  for (const { lease, reserved } of reserves) lease.release(reserved);
}

/** Turns the reserved amounts into one hold of at most `ceiling` on each lease. The rest becomes available again. */
export function holdOf(
  reserves: readonly Reserve[],
  ceiling: Nanos,
): { amount: Nanos; leases: BudgetLease[] } {
  let amount = ceiling;
  for (const { reserved } of reserves) if (reserved < amount) amount = reserved;
  for (const { lease, reserved } of reserves) lease.release(reserved, amount);
  return { amount, leases: reserves.map(({ lease }) => lease) };
}

/** Counts the beginning of a call to the store on each of these leases. Disposing of the result counts its end. */
export function beginCall(leases: readonly BudgetLease[]): Disposable {
  for (const lease of leases) lease.callBegins();
  return {
    [Symbol.dispose]() {
      for (const lease of leases) lease.callEnds();
    },
  };
}
