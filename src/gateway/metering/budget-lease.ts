import type { Nanos } from "../../lib/money.ts";

/**
 * The part of a budget that this process has drawn from the store. `available` is what was drawn, less what was
 * promised to requests and not returned by them or was spent by them.
 */
export interface BudgetLease {
  readonly budget: string;
  /** Promised to no request. Below zero when requests have cost more than they had set aside. */
  available: Nanos;
  /** Promised to running requests. */
  promised: Nanos;
  /** Drawn from the store so far, less what was given back. */
  acquired: Nanos;
  /** Amount left in the store at the last call. */
  left: Nanos;
  /** Monotonic milliseconds until which it may be used: then the store counts it as in doubt. */
  usableUntil: number;
  /** Monotonic milliseconds until which only what requests need is drawn, because others miss it. */
  scarceUntil: number;
  /** Monotonic milliseconds of the last hold or attempt at one. */
  usedAt: number;
  /** How often the budget was changed by an administrator. */
  changes: number;
  /** The result of a call that draws was lost: only the store knows whether it went through. */
  isUnclear: boolean;
  /** Calls of the store under way that change `acquired`, and how many have ended. */
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

/** Amount that a request has reserved of one lease before the store is called for the rest. */
export interface Reserve {
  lease: BudgetLease;
  /** Taken out of `available`; a debt when negative. */
  reserved: Nanos;
  /** `lease.changes` at the time. */
  changes: number;
}

/** Takes what is available of each lease, up to `amount`, out of the reach of other requests. */
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

/** Promises a request what all of its leases have reserved, at most `ceiling`, and leaves the rest with them. */
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

/** Notes that a call of the store about these leases begins; disposing of the result notes its end. */
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
 * Share of what is left that a process draws ahead of need, in whole multiples of a request, so that no process
 * keeps a rest that nobody can use.
 */
export function aheadOfNeed({ left }: BudgetLease, amount: Nanos): Nanos {
  const share = left / LEASE_DIVISOR;
  return amount > 0n ? share - (share % amount) : share;
}

const LEASE_DIVISOR = 8n;
