import { DependencyError, type BudgetStore, type BudgetWish } from "../../src/gateway/ports.ts";

/** What may become of the next call: lost before it happened, or its answer lost after it happened. */
export type Fault = "before" | "after";

export interface MemoryBudgetStore extends BudgetStore {
  budgets: Map<string, { amount: bigint; spent: bigint }>;
  /** Slices by `lease budget`. */
  slices: Map<string, { amount: bigint; drawn: bigint }>;
  wanted: Set<string>;
  /** Calls in order. */
  calls: string[];
  /** Decides what becomes of a call; undefined lets it through. */
  fault: (call: string) => Fault | undefined;
  held(budget: string): bigint;
  /** Books a charge as the ledger does. */
  post(lease: string, budget: string, charged: bigint): void;
  /** Returns a lease's slices as the sweeper does. */
  sweep(lease: string): void;
}

/** The rules of budgets and slices in memory, with faults on demand. Every call answers a little later. */
export function memoryBudgetStore(amounts: Record<string, bigint>): MemoryBudgetStore {
  const budgets: MemoryBudgetStore["budgets"] = new Map(
    Object.entries(amounts).map(([id, amount]) => [id, { amount, spent: 0n }]),
  );
  const slices: MemoryBudgetStore["slices"] = new Map();
  const held = (budget: string) =>
    [...slices].reduce((sum, [name, { amount }]) => (name.endsWith(` ${budget}`) ? sum + amount : sum), 0n);
  const sliceOf = (lease: string, budget: string) => {
    const slice = slices.get(`${lease} ${budget}`) ?? { amount: 0n, drawn: 0n };
    slices.set(`${lease} ${budget}`, slice);
    return slice;
  };
  const own = (lease: string) =>
    [...slices]
      .filter(([name]) => name.startsWith(`${lease} `))
      .map(([name, slice]) => [name.split(" ")[1]!, slice] as const);
  const store: MemoryBudgetStore = {
    budgets,
    slices,
    wanted: new Set(),
    calls: [],
    fault: () => undefined,
    held,
    take: (lease, wishes) => call(`take ${lease}`, () => take(lease, wishes)),
    giveBack: (lease, amounts) =>
      call(`giveBack ${lease}`, () => {
        for (const [budget, amount] of amounts) {
          const slice = sliceOf(lease, budget);
          if (amount > slice.amount) throw new Error(`gave back ${amount} of ${slice.amount}`);
          slice.amount -= amount;
          slice.drawn -= amount;
        }
      }),
    renew: (lease) =>
      call(`renew ${lease}`, () => new Map(own(lease).map(([budget, { drawn }]) => [budget, drawn]))),
    contended: (lease) =>
      call(
        `contended ${lease}`,
        () =>
          new Set(
            own(lease)
              .filter(([id, { amount }]) => amount > 0n && store.wanted.has(id))
              .map(([id]) => id),
          ),
      ),
    post(lease, budget, charged) {
      const slice = sliceOf(lease, budget);
      const moved = charged < slice.amount ? charged : slice.amount;
      slice.amount -= moved;
      slice.drawn += charged - moved;
      budgets.get(budget)!.spent += charged;
    },
    sweep(lease) {
      for (const [, slice] of own(lease)) {
        slice.drawn -= slice.amount;
        slice.amount = 0n;
      }
    },
  };
  const take = (lease: string, wishes: readonly BudgetWish[]) => {
    const known = wishes.filter(({ budget }) => budgets.has(budget));
    const rest = (id: string) => budgets.get(id)!.amount - budgets.get(id)!.spent - held(id);
    const short = known.find(({ budget, needed }) => rest(budget) < needed);
    if (short) {
      const isHeldByOthers = held(short.budget) > sliceOf(lease, short.budget).amount;
      if (isHeldByOthers) store.wanted.add(short.budget);
      return { exhausted: short.budget, isHeldByOthers };
    }
    const granted = new Map<string, bigint>();
    const left = new Map<string, bigint>();
    for (const { budget, wanted } of known) {
      const amount = wanted < rest(budget) ? wanted : rest(budget);
      granted.set(budget, amount);
      left.set(budget, rest(budget) - amount);
      sliceOf(lease, budget).amount += amount;
      sliceOf(lease, budget).drawn += amount;
    }
    return { granted, left };
  };
  const call = async <Answer>(name: string, work: () => Answer): Promise<Answer> => {
    store.calls.push(name);
    const fault = store.fault(name);
    await Promise.resolve();
    if (fault === "before") throw new DependencyError("the store is away");
    const answer = work();
    await Promise.resolve();
    if (fault === "after") throw new DependencyError("the answer is lost");
    return answer;
  };
  return store;
}
