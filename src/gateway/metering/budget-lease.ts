import type { Nanos } from "../../lib/money.ts";

/**
 * The part of a budget that this process has acquired from the store. `available` is the acquired amount without what
 * running requests have promised and ended ones have spent.
 *
 * Its states, and the calls of the store and the times that change them:
 *
 *                    budget changed                     take
 *              +------------------------> unconfirmed ---------> usable
 *       take   |     result of a take lost              renew
 *     empty --> usable -----------------> unclear -------------> usable or forgotten
 *              |     14 minutes, or 5 idle (close)      renew
 *              +------------------------> expired -------------> usable or forgotten
 *
 * Requests take from a usable and from an unclear lease, but no more is acquired for an unclear one before its renewal. A
 * lease is forgotten when the store has none (it was closed or written off) or its budget was removed. `BudgetLeases`
 * changes it by holds, settlements and takes, `LeaseTable` by all else; `ExhaustionCache` only remembers refusals.
 */
export interface BudgetLease {
  readonly budget: string;
  /** Not promised to any request. Negative when requests have cost more than they held. */
  available: Nanos;
  /** Promised to running requests. */
  promised: Nanos;
  /** Acquired from the store so far, without what was given back. */
  acquired: Nanos;
  /** Amount left in the store at the last call. */
  left: Nanos;
  /** Monotonic milliseconds until which it may be used: afterwards the store counts it as in doubt. */
  usableUntil: number;
  /**
   * Monotonic milliseconds until which only the amounts that requests need are acquired, because other processes lack
   * money.
   */
  scarceUntil: number;
  /** Monotonic milliseconds of the last hold or attempt at one. */
  usedAt: number;
  /** How often the budget was changed by an administrator. */
  changes: number;
  /** True when the result of a call that acquires was lost: only the store knows whether it took effect. */
  isUnclear: boolean;
  /** Number of running calls to the store that change `acquired`, and number of those that have ended. */
  callsUnderWay: number;
  calls: number;
}

export function emptyLease(budget: string): BudgetLease {
  return {
    budget,
    available: 0n,
    promised: 0n,
    acquired: 0n,
    left: 0n,
    usableUntil: Infinity,
    scarceUntil: 0,
    usedAt: 0,
    changes: 0,
    isUnclear: false,
    callsUnderWay: 0,
    calls: 0,
  };
}

/** The amount that a request has reserved of one lease before the store is called for the rest. */
export interface Reserve {
  lease: BudgetLease;
  /** Taken out of `available`; negative for a debt. */
  reserved: Nanos;
  /** `lease.changes` at the time of reserving. */
  changes: number;
}

/** Takes the available amount of each lease, up to `amount`, so that no other request can use it. */
export function reserve(leases: readonly BudgetLease[], amount: Nanos): Reserve[] {
  return leases.map((lease) => {
    const reserved = lease.available < amount ? lease.available : amount;
    lease.available -= reserved;
    return { lease, reserved, changes: lease.changes };
  });
}

/** Undoes a reserve. */
export function unreserve(reserves: readonly Reserve[]): void {
  for (const { lease, reserved } of reserves) lease.available += reserved;
}

/** Turns the reserved amounts into a hold of at most `ceiling` on each lease and returns the rest to the leases. */
export function holdOf(
  reserves: readonly Reserve[],
  ceiling: Nanos,
): { amount: Nanos; leases: BudgetLease[] } {
  let amount = ceiling;
  for (const { reserved } of reserves) if (reserved < amount) amount = reserved;
  for (const { lease, reserved } of reserves) {
    lease.available += reserved - amount;
    lease.promised += amount;
  }
  return { amount, leases: reserves.map(({ lease }) => lease) };
}

/** Counts a running call to the store on each of these leases. Disposing of the result counts its end. */
export function beginCall(leases: readonly BudgetLease[]): Disposable {
  for (const lease of leases) lease.callsUnderWay += 1;
  return {
    [Symbol.dispose]() {
      for (const lease of leases) {
        lease.callsUnderWay -= 1;
        lease.calls += 1;
      }
    },
  };
}

/**
 * Returns the amount that a process acquires ahead of need: a share of what is left, in whole multiples of a request,
 * so that no process keeps a rest too small for any request.
 */
export function aheadOfNeed({ left }: BudgetLease, amount: Nanos): Nanos {
  const share = left / LEASE_DIVISOR;
  return amount > 0n ? share - (share % amount) : share;
}

const LEASE_DIVISOR = 8n;
