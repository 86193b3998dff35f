import { GatewayError } from "../../domain/gateway-error.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Nanos } from "../../lib/money.ts";

const HOUR_MS = 60 * 60_000;
const RETRY_SECONDS = 60;

/**
 * Sums the cost of abandoned vendor calls of each key in the current hour, against a cap. Each process counts for
 * itself, to slow down clients that disconnect repeatedly; the ledger has the exact sums.
 */
export class OrphanCosts {
  readonly #cap: Nanos | null;
  readonly #clock: Clock;
  #costs = new Map<string, Nanos>();
  #hourEndsAt = 0;

  /** A cap of null allows everything. */
  constructor(cap: Nanos | null, clock: Clock) {
    this.#cap = cap;
    this.#clock = clock;
  }

  /** Throws `rate_limit_exceeded` while the key has reached the cap. */
  require(keyId: string): void {
    if (this.#cap === null || (this.#current().get(keyId) ?? 0n) < this.#cap) return;
    const message = "Too many requests of this key were abandoned after their model was called. Retry later.";
    throw new GatewayError("rate_limit_exceeded", message, { retryAfterSeconds: RETRY_SECONDS });
  }

  add(keyId: string, cost: Nanos): void {
    if (this.#cap === null || cost === 0n) return;
    const costs = this.#current();
    costs.set(keyId, (costs.get(keyId) ?? 0n) + cost);
  }

  #current(): Map<string, Nanos> {
    const now = this.#clock.monotonic();
    if (now >= this.#hourEndsAt) {
      this.#costs = new Map();
      this.#hourEndsAt = now + HOUR_MS;
    }
    return this.#costs;
  }
}
