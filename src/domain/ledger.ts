import type { UpstreamErrorKind } from "./upstream-error.ts";
import type { Nanos } from "../lib/money.ts";
import type { PriceSource } from "./price.ts";
import type { Usage, VendorCost } from "./usage.ts";

/**
 * One immutable entry of the ledger, unique by (`id`, `kind`), so that posting it again changes nothing. `id` is the
 * gateway's own; `requestId` is the caller's `X-Request-Id` if that was usable.
 */
export interface LedgerEntry {
  id: string;
  kind: "charge" | "refund" | "adjustment";
  requestId: string;
  organizationId: string;
  keyId: string;
  /** `playground/` and the name of the member who sent it in the console; absent for a request of the key's holder. */
  source?: string;
  /** The program that sent it, as `clientProgram` names it; absent where it named none. */
  client?: string;
  model: string;
  /** Channel and vendor model of the response; null when there was none. */
  channel: string | null;
  upstreamModel: string | null;
  /** Unix milliseconds. */
  at: number;
  /** Unix milliseconds at which the request was admitted and priced; absent in older charges and corrections. */
  admittedAt?: number;
  usage: Usage | null;
  /** Negative only for a refund. */
  amount: Nanos;
  currency: string;
  priceSource: PriceSource;
  /** Likely cost of vendor calls whose response was never delivered; recorded, never billed. */
  orphanCost: Nanos;
  /** The vendor's own figure for the cost of the delivered work; absent when the vendor reports none. Never billed. */
  vendorCost?: VendorCost;
  /** Budgets that the entry is booked on. */
  budgets: readonly string[];
  attempts: readonly Attempt[];
  flags: readonly LedgerFlag[];
  /** Id of the charge that a refund or an adjustment corrects. */
  corrects?: string;
  /** Position in the order of posting, in entries that were read from the ledger. Earlier versions gave none. */
  sequence?: number;
}

/** A ledger entry as JSON has it: money as decimal strings of nano-units. */
type WrittenEntry = Omit<LedgerEntry, "amount" | "orphanCost" | "vendorCost"> & {
  amount: string;
  orphanCost: string;
  vendorCost?: { amount: string; currency: string };
};

/** Returns an entry as it is written as JSON. */
export function writeEntry(entry: LedgerEntry): WrittenEntry {
  const { amount, orphanCost, vendorCost } = entry;
  return {
    ...entry,
    amount: amount.toString(),
    orphanCost: orphanCost.toString(),
    // JSON leaves out what is undefined.
    vendorCost: vendorCost && { ...vendorCost, amount: vendorCost.amount.toString() },
  };
}

/** The inverse of `writeEntry`. */
export function readEntry({ amount, orphanCost, vendorCost, ...rest }: WrittenEntry): LedgerEntry {
  return {
    ...rest,
    amount: BigInt(amount),
    orphanCost: BigInt(orphanCost),
    ...(vendorCost && { vendorCost: { ...vendorCost, amount: BigInt(vendorCost.amount) } }),
  };
}

/** Returns the amount of a charge above the vendor's cost; null when that is unknown or in another currency. */
export function marginOf({ amount, currency, vendorCost }: LedgerEntry): Nanos | null {
  return vendorCost?.currency === currency ? amount - vendorCost.amount : null;
}

/** `price_correction`: a refund or an adjustment for the sole reason that a price was corrected. */
export type LedgerFlag =
  "estimated" | "anomalous" | "partial" | "caller_gone" | "over_hold" | "price_correction";

/** The largest charge, over a billion of a currency's units: sums of such charges fit the stores' 64 bits. */
export const MAX_CHARGE: Nanos = 2n ** 60n;

/** One call to a vendor and how it ended. */
export interface Attempt {
  channel: string;
  upstreamModel: string;
  /** Duration of the call in milliseconds. */
  durationMs: number;
  outcome: "answered" | "caller_gone" | "stopped" | UpstreamErrorKind;
  /** HTTP status, when there was one. */
  status?: number;
  /** The vendor may have done the work, and charge for it, although no response arrived. */
  isAmbiguous?: boolean;
  /** The vendor's own id of the call, from its response. */
  vendorRequestId?: string;
  /** The caller's fields that had no effect at this vendor, at most as many as a header can name. */
  ignoredParams?: readonly string[];
}
