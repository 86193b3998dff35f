import type { Clock } from "../../lib/clock.ts";
import type { Nanos } from "../../lib/money.ts";
import type { Exhausted } from "./stores.ts";

/** Time for which an exhaustion is remembered, so that refused requests do not flood the store. */
const REMEMBERED_MS = 250;
/** Time in which no request waits for other processes after such a wait was in vain. */
const PATIENT_AGAIN_MS = 5000;

/** The reason of a refused hold: the budget is spent, or running requests hold the rest of it. */
export type BudgetRefusal = "spent" | "held";

/** A cache of the budgets that recently had too little left. */
export class ExhaustionCache {
  readonly #exhaustions = new Map<string, Remembered>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the reason why the budget recently had less than `needed` left; null when none is known. */
  find(budget: string, needed: Nanos): BudgetRefusal | null {
    const exhaustion = this.#exhaustions.get(budget);
    if (!exhaustion || exhaustion.until <= this.#clock.monotonic() || needed < exhaustion.needed) return null;
    return exhaustion.refusal;
  }

  /** False for a few seconds after a request has waited in vain for money of other processes. */
  isWorthWaiting(budget: string): boolean {
    return (this.#exhaustions.get(budget)?.patientFrom ?? 0) <= this.#clock.monotonic();
  }

  /** Remembers that the budget has less than `needed` left. `hasWaited`: the request waited for other processes. */
  note(budget: string, needed: Nanos, refusal: BudgetRefusal, hasWaited: boolean): void {
    const now = this.#clock.monotonic();
    const patientFrom = hasWaited
      ? now + PATIENT_AGAIN_MS
      : (this.#exhaustions.get(budget)?.patientFrom ?? 0);
    this.#exhaustions.set(budget, { needed, refusal, until: now + REMEMBERED_MS, patientFrom });
  }

  forget(budget: string): void {
    this.#exhaustions.delete(budget);
  }

  prune(): void {
    const now = this.#clock.monotonic();
    for (const [budget, { until, patientFrom }] of this.#exhaustions)
      if (until <= now && patientFrom <= now) this.#exhaustions.delete(budget);
  }
}

interface Remembered {
  needed: Nanos;
  refusal: BudgetRefusal;
  /** Monotonic milliseconds until which this entry is valid. From `patientFrom` on, requests may wait for others. */
  until: number;
  patientFrom: number;
}

/** A budget that has less left than a request needs. */
export interface Exhaustion {
  budget: string;
  /** The amount that the budget must have left for the request. */
  needed: Nanos;
  /** True when the budget would have `needed` left if other processes gave back what they hold. */
  canOthersHelp: boolean;
  refusal: BudgetRefusal;
}

/** Converts the store's refusal. `promised` is the amount that this process holds for running requests. */
export function exhaustionOf(
  { exhausted, left, heldByOthers }: Exhausted,
  needed: Nanos,
  promised: Nanos,
): Exhaustion {
  return {
    budget: exhausted,
    needed,
    canOthersHelp: heldByOthers > 0n && left + heldByOthers >= needed,
    refusal: left + heldByOthers + promised >= needed ? "held" : "spent",
  };
}
