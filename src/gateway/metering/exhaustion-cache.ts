import type { Clock } from "../../lib/clock.ts";
import type { Nanos } from "../../lib/money.ts";

/** How long a shortage is believed, so that a flood of refusals spares the store. */
const BELIEVED_MS = 250;
/** Waiting for others was in vain: how long nobody waits again. */
const PATIENT_AGAIN_MS = 5000;

/** What budgets lately had not left. */
export class ExhaustionCache {
  readonly #exhaustions = new Map<string, Exhaustion>();

  constructor(private readonly clock: Clock) {}

  /** Whether the budget lately lacked as much. */
  lacks(budget: string, needed: Nanos): boolean {
    const exhaustion = this.#exhaustions.get(budget);
    return (
      exhaustion !== undefined && exhaustion.until > this.clock.monotonic() && needed >= exhaustion.needed
    );
  }

  /** Whether it is worth waiting for others to give back. */
  isWorthWaiting(budget: string): boolean {
    return (this.#exhaustions.get(budget)?.patientFrom ?? 0) <= this.clock.monotonic();
  }

  /** Remembers that the budget has not even `needed` left, not even after waiting for others. */
  note(budget: string, needed: Nanos, hasWaited: boolean): void {
    const now = this.clock.monotonic();
    const patientFrom = hasWaited
      ? now + PATIENT_AGAIN_MS
      : (this.#exhaustions.get(budget)?.patientFrom ?? 0);
    this.#exhaustions.set(budget, { needed, until: now + BELIEVED_MS, patientFrom });
  }
}

interface Exhaustion {
  needed: Nanos;
  /** Monotonic milliseconds. */
  until: number;
  patientFrom: number;
}
