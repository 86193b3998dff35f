import type { Nanos } from "../../lib/money.ts";

/**
 * The part of a budget that this process has drawn from the store. `available` is what was drawn less what was
 * promised to requests and not returned by them, or spent by them.
 */
export interface BudgetLease {
  readonly budget: string;
  /** Promised to no request. Below zero when requests have cost more than they had set aside. */
  available: Nanos;
  /** Drawn from the store so far, less what was given back. */
  acquired: Nanos;
  /** What the store had left when it was last asked. */
  left: Nanos;
  /** Monotonic milliseconds until which it may be used: the store may return it some time later. */
  usableUntil: number;
  /** Monotonic milliseconds until which only what requests need is drawn, because others miss it. */
  scarceUntil: number;
  /** Calls of the store under way that change `drawn`, and how many there were. */
  callsUnderWay: number;
  calls: number;
}

export function emptyLease(budget: string): BudgetLease {
  return {
    budget,
    available: 0n,
    acquired: 0n,
    left: 0n,
    usableUntil: Infinity,
    scarceUntil: 0,
    callsUnderWay: 0,
    calls: 0,
  };
}

/** What is to be drawn so that `amount` can be set aside, after `reserve` has taken what there is. */
export interface Reserve {
  lease: BudgetLease;
  /** Taken out of `available`; a debt when negative. */
  reserved: Nanos;
  needed: Nanos;
}

/** Takes what is available of each slice, up to `amount`, out of everybody else's reach. */
export function reserve(leases: readonly BudgetLease[], amount: Nanos): Reserve[] {
  return leases.map((lease) => {
    const reserved = lease.available < amount ? lease.available : amount;
    lease.available -= reserved;
    return { lease, reserved, needed: amount - reserved };
  });
}

/** Undoes a reserve. */
export function unreserve(reserves: readonly Reserve[]): void {
  for (const { lease, reserved } of reserves) lease.available += reserved;
}

/** Notes that a call of the store about these slices begins; the answer notes its end. */
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
