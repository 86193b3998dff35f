import { GatewayError } from "../../domain/gateway-error.ts";
import { networkOf } from "../../lib/cidr.ts";
import type { Clock } from "../../lib/clock.ts";

const WINDOW_MS = 60_000;
/** Networks with a counter of their own; further networks of the same minute share one counter. */
const MAX_NETWORKS = 10_000;
const OTHERS = "others";

/**
 * Bounds the lookups of keys that do not exist, per client network and minute, so that forged keys do not reach the
 * store. Keys in memory need no lookup and are never refused. With a limit of null nothing is counted.
 */
export class UnknownKeys {
  readonly #clock: Clock;
  readonly #limit: number | null;
  #counts = new Map<string, number>();
  #endsAt = 0;

  constructor(clock: Clock, limit: number | null) {
    this.#clock = clock;
    this.#limit = limit;
  }

  /**
   * Counts a lookup before it is made. Throws `rate_limit_exceeded` when the network has none left. Returns a function
   * that takes the count back; call it when the key exists or the store failed.
   */
  count(address: string): () => void {
    if (this.#limit === null) return () => {};
    const now = this.#clock.monotonic();
    if (now >= this.#endsAt) {
      this.#counts = new Map();
      this.#endsAt = now + WINDOW_MS;
    }
    const counts = this.#counts;
    const network = networkOf(address);
    const name = counts.has(network) || counts.size < MAX_NETWORKS ? network : OTHERS;
    const count = counts.get(name) ?? 0;
    if (count >= this.#limit) throw this.#refusal(now);
    counts.set(name, count + 1);
    return () => void counts.set(name, (counts.get(name) ?? 1) - 1);
  }

  /** Returns a 429 and not a 401: the key may exist, and its holder should retry. */
  #refusal(now: number): GatewayError {
    const message =
      "Too many requests with unknown keys came from your address. Check the key and retry later.";
    const retryAfterSeconds = Math.max(1, Math.ceil((this.#endsAt - now) / 1000));
    return new GatewayError("rate_limit_exceeded", message, { retryAfterSeconds });
  }
}
