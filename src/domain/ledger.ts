import type { Nanos } from "../lib/money.ts";
import type { PriceSource } from "./price.ts";
import type { Usage } from "./usage.ts";
import type { VendorCost } from "./vendor-cost.ts";

/**
 * One immutable entry of the ledger, unique by (`id`, `kind`), so that posting it again changes nothing. `id` is the
 * gateway's own; `requestId` is the caller's `X-Request-Id` where it sent a usable one.
 */
export interface LedgerEntry {
  id: string;
  kind: "charge" | "refund" | "adjustment";
  requestId: string;
  organizationId: string;
  keyId: string;
  /** `playground/` and the name of the member who sent it in the console; absent where the holder of the key did. */
  source?: string;
  model: string;
  /** Channel and vendor model of the response; null when there was none. */
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
  /** Likely cost of vendor calls whose response was never delivered; recorded, never billed. */
  orphanCost: Nanos;
  /** What the vendor says that the delivered work has cost; absent where it says nothing. Never billed. */
  vendorCost?: VendorCost;
  /** Budgets it is booked on. */
  budgets: readonly string[];
  attempts: readonly Attempt[];
  flags: readonly LedgerFlag[];
  /** Id of the charge that a refund or an adjustment corrects. */
  corrects?: string;
  /** Of an entry that was read from the ledger: grows in the order of posting. Earlier versions gave none. */
  sequence?: number;
}

/** What a charge leaves above the vendor's cost; null where that is unknown or in another currency. */
export function marginOf({ amount, currency, vendorCost }: LedgerEntry): Nanos | null {
  return vendorCost?.currency === currency ? amount - vendorCost.amount : null;
}

/** `price_correction`: a refund or an adjustment because a price was corrected, and for no other reason. */
export type LedgerFlag =
  "estimated" | "anomalous" | "partial" | "caller_gone" | "over_hold" | "price_correction";

/** The most one charge may be, over a billion of a currency's units: sums of them fit the stores' 64 bits. */
export const MAX_CHARGE: Nanos = 2n ** 60n;

/** One call to a vendor and how it ended. */
export interface Attempt {
  channel: string;
  upstreamModel: string;
  /** Milliseconds it took. */
  durationMs: number;
  outcome: "answered" | "caller_gone" | "stopped" | AttemptFailure;
  /** HTTP status, when there was one. */
  status?: number;
  /** The vendor may have done the work, and charge for it, although no response arrived. */
  isAmbiguous?: boolean;
  /** The vendor's own id of the call, from its response. */
  vendorRequestId?: string;
}

type AttemptFailure =
  "unreachable" | "timeout" | "overloaded" | "limited" | "account" | "broken" | "refused" | "rejected";
