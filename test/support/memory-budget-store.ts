import { DependencyError } from "../../src/gateway/dependency-error.ts";
import type { BudgetStore, BudgetRequest } from "../../src/gateway/metering/stores.ts";

/** Fault of the next call. The call is lost before it runs, or its result is lost after it has run. */
export type Fault = "before" | "after";

export interface MemoryBudgetStore extends BudgetStore {
  budgets: Map<string, { amount: bigint; spent: bigint }>;
  /** Leases by keys of the form `process budget`. */
  leases: Map<string, { amount: bigint; drawn: bigint }>;
  wanted: Set<string>;
  /** Names of the calls, in order. */
  calls: string[];
  /** Returns the fault of a call; undefined for none. */
  fault: (call: string) => Fault | undefined;
  held(budget: string): bigint;
  /** Posts a charge as the ledger would. */
  post(processId: string, budget: string, charged: bigint): void;
  /** Returns all leases of a process to the budgets, like an operator's write-off. */
  writeOff(processId: string): void;
}

/** The rules of budgets and leases in memory, with optional faults. Every call resolves a little later. */
export function memoryBudgetStore(amounts: Record<string, bigint>): MemoryBudgetStore {
  const budgets: MemoryBudgetStore["budgets"] = new Map(
    Object.entries(amounts).map(([id, amount]) => [id, { amount, spent: 0n }]),
  );
  const leases: MemoryBudgetStore["leases"] = new Map();
  const held = (budget: string) =>
    [...leases].reduce((sum, [name, { amount }]) => (name.endsWith(` ${budget}`) ? sum + amount : sum), 0n);
  const leaseOf = (processId: string, budget: string) => {
    const lease = leases.get(`${processId} ${budget}`) ?? { amount: 0n, drawn: 0n };
    leases.set(`${processId} ${budget}`, lease);
    return lease;
  };
  const own = (processId: string) =>
    [...leases]
      .filter(([name]) => name.startsWith(`${processId} `))
      .map(([name, lease]) => [name.split(" ")[1]!, lease] as const);
  const store: MemoryBudgetStore = {
    budgets,
    leases,
    wanted: new Set(),
    calls: [],
    fault: () => undefined,
    held,
    take: (processId, requests) => call(`take ${processId}`, () => take(processId, requests)),
    giveBack: (processId, amounts) =>
      call(`giveBack ${processId}`, () => {
        for (const [budget, amount] of amounts) {
          const lease = leaseOf(processId, budget);
          if (amount > lease.amount) throw new Error(`gave back ${amount} of ${lease.amount}`);
          lease.amount -= amount;
          lease.drawn -= amount;
        }
      }),
    close: (processId, amounts) =>
      call(`close ${processId}`, () => {
        for (const [budget, amount] of amounts) {
          const lease = leaseOf(processId, budget);
          lease.amount -= amount;
          lease.drawn -= amount;
          if (lease.amount === 0n) leases.delete(`${processId} ${budget}`);
        }
      }),
    renew: (processId, ids) =>
      call(`renew ${processId}`, () => {
        const asked = new Set(ids);
        return new Map(
          own(processId).flatMap(([budget, { drawn }]) => (asked.has(budget) ? [[budget, drawn]] : [])),
        );
      }),
    contended: (processId) =>
      call(
        `contended ${processId}`,
        () =>
          new Set(
            own(processId)
              .filter(([id, { amount }]) => amount > 0n && store.wanted.has(id))
              .map(([id]) => id),
          ),
      ),
    post(processId, budget, charged) {
      const lease = leaseOf(processId, budget);
      const moved = charged < lease.amount ? charged : lease.amount;
      lease.amount -= moved;
      lease.drawn += charged - moved;
      budgets.get(budget)!.spent += charged;
    },
    writeOff(processId) {
      for (const [, lease] of own(processId)) {
        lease.drawn -= lease.amount;
        lease.amount = 0n;
      }
    },
  };
  const take = (processId: string, requests: readonly BudgetRequest[]) => {
    const known = requests.filter(({ budget }) => budgets.has(budget));
    const rest = (id: string) => budgets.get(id)!.amount - budgets.get(id)!.spent - held(id);
    const short = known.find(({ budget, needed }) => rest(budget) < needed);
    if (short) {
      const heldByOthers = held(short.budget) - leaseOf(processId, short.budget).amount;
      const left = rest(short.budget);
      if (heldByOthers > 0n && left + heldByOthers >= short.needed) store.wanted.add(short.budget);
      return { exhausted: short.budget, left, heldByOthers };
    }
    const granted = new Map<string, bigint>();
    const left = new Map<string, bigint>();
    for (const { budget, wanted } of known) {
      const amount = wanted < rest(budget) ? wanted : rest(budget);
      granted.set(budget, amount);
      left.set(budget, rest(budget) - amount);
      leaseOf(processId, budget).amount += amount;
      leaseOf(processId, budget).drawn += amount;
    }
    return { granted, left };
  };
  const call = async <Result>(name: string, work: () => Result): Promise<Result> => {
    store.calls.push(name);
    const fault = store.fault(name);
    await Promise.resolve();
    if (fault === "before") throw new DependencyError("the store is away");
    const result = work();
    await Promise.resolve();
    if (fault === "after") throw new DependencyError("the result is lost");
    return result;
  };
  return store;
}
