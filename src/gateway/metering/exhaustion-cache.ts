import type { Clock } from "../../lib/clock.ts";
import type { Nanos } from "../../lib/money.ts";
import type { Exhausted } from "./stores.ts";

/** How long an exhaustion is remembered, so that a flood of refusals spares the store. */
const REMEMBERED_MS = 250;
/** After waiting for others in vain: how long no request waits again. */
const PATIENT_AGAIN_MS = 5000;

/** Why nothing was held: the budget is spent, or what is left of it is held for running requests. */
export type Refusal = "spent" | "held";

/** Budgets that lately had not enough left. */
export class ExhaustionCache {
  readonly #exhaustions = new Map<string, Remembered>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Why the budget lately could not give as much; null when that is not known. */
  find(budget: string, needed: Nanos): Refusal | null {
    const exhaustion = this.#exhaustions.get(budget);
    if (!exhaustion || exhaustion.until <= this.#clock.monotonic() || needed < exhaustion.needed) return null;
    return exhaustion.refusal;
  }

  /** Whether it is worth waiting for others to give back. */
  isWorthWaiting(budget: string): boolean {
    return (this.#exhaustions.get(budget)?.patientFrom ?? 0) <= this.#clock.monotonic();
  }

  /** Remembers that the budget has not even `needed` left, and whether that is after waiting for others. */
  note(budget: string, needed: Nanos, refusal: Refusal, hasWaited: boolean): void {
    const now = this.#clock.monotonic();
    const patientFrom = hasWaited
      ? now + PATIENT_AGAIN_MS
      : (this.#exhaustions.get(budget)?.patientFrom ?? 0);
    this.#exhaustions.set(budget, { needed, refusal, until: now + REMEMBERED_MS, patientFrom });
  }

  forget(budget: string): void {
    this.#exhaustions.delete(budget);
  }

  /** Drops what no longer matters. */
  prune(): void {
    const now = this.#clock.monotonic();
    for (const [budget, { until, patientFrom }] of this.#exhaustions)
      if (until <= now && patientFrom <= now) this.#exhaustions.delete(budget);
  }
}

interface Remembered {
  needed: Nanos;
  refusal: Refusal;
  /** Monotonic milliseconds. */
  until: number;
  patientFrom: number;
}

/** What a budget lacks for a request. */
export interface Exhaustion {
  budget: string;
  /** What the store should have had left. */
  needed: Nanos;
  /** Whether it is enough for the request when other processes give back what they hold. */
  canOthersHelp: boolean;
  refusal: Refusal;
}

/** Reads the store's refusal; `promised` is what this process holds of the budget for running requests. */
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
