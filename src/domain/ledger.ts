import type { Nanos } from "../lib/money.ts";
import type { PriceSource } from "./price.ts";
import type { Usage } from "./usage.ts";

/**
 * One immutable line of the ledger. Unique by (`id`, `kind`), so that a replay changes nothing. `id` is the
 * gateway's own; the caller's `X-Request-Id` is only carried along.
 */
export interface LedgerEntry {
  id: string;
  kind: "charge" | "refund" | "adjustment";
  requestId: string;
  organizationId: string;
  keyId: string;
  model: string;
  /** Channel and vendor model that answered; null when none did. */
  channel: string | null;
  upstreamModel: string | null;
  /** Unix milliseconds. */
  at: number;
  /** Unix milliseconds at which the request was admitted, and so priced; absent from older charges and corrections. */
  admittedAt?: number;
  usage: Usage | null;
  /** Never negative but on a refund. */
  amount: Nanos;
  currency: string;
  priceSource: PriceSource;
  /** What our own duplicate vendor calls are thought to have cost; recorded, never billed. */
  orphanCost: Nanos;
  /** Budgets it is booked on. */
  budgets: readonly string[];
  attempts: readonly Attempt[];
  flags: readonly LedgerFlag[];
  /** Id of the charge that a refund or an adjustment corrects. */
  corrects?: string;
}

/** `price_correction` tells a refund or an adjustment by a corrected price from what was refunded for other reasons. */
export type LedgerFlag =
  "estimated" | "anomalous" | "partial" | "caller_gone" | "over_hold" | "price_correction";

/** One call to a vendor and how it ended. */
export interface Attempt {
  channel: string;
  upstreamModel: string;
  /** Milliseconds it took. */
  durationMs: number;
  outcome: "answered" | "caller_gone" | AttemptFailure;
  /** HTTP status, when there was one. */
  status?: number;
  /** The vendor may have done the work, and charge for it, although no answer came. */
  isAmbiguous?: boolean;
}

export type AttemptFailure =
  "unreachable" | "timeout" | "overloaded" | "limited" | "account" | "broken" | "refused" | "rejected";
