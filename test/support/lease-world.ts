import { BudgetLeases, type Hold } from "../../src/gateway/metering/budget-leases.ts";
import type { BudgetRefusal } from "../../src/gateway/metering/exhaustion-cache.ts";
import { memoryBudgetStore } from "./memory-budget-store.ts";

/** Creates processes with a common store. Only tests and waiting requests advance the clock. */
export function leaseWorld(amounts: Record<string, bigint>, processes = 1) {
  const store = memoryBudgetStore(amounts);
  const time = { now: 0 };
  const clock = { now: () => time.now, monotonic: () => time.now };
  const all: BudgetLeases[] = [];
  const sleep = async (milliseconds: number) => {
    time.now += milliseconds;
    await Promise.all(all.map((budgetLeases) => budgetLeases.yieldContended()));
  };
  for (let index = 0; index < processes; index += 1)
    all.push(new BudgetLeases(store, `p${index}`, clock, sleep));
  return { store, time, all, budgetLeases: all[0]! };
}

/** Awaits a hold. Throws if the hold was refused. */
export async function granted(hold: Hold | BudgetRefusal | Promise<Hold | BudgetRefusal>): Promise<Hold> {
  const outcome = await hold;
  if (typeof outcome === "string") throw new Error(`the hold was refused: ${outcome}`);
  return outcome;
}
