import type { UpstreamErrorKind } from "./upstream-error.ts";
import type { Nanos } from "../lib/money.ts";
import type { PriceSource } from "./price.ts";
import type { Usage, VendorCost } from "./usage.ts";

/**
 * One immutable entry of the ledger. Entries are unique by `id` and `kind`, so that posting an entry again changes
 * nothing. `id` is the gateway's own id. `requestId` is the caller's `X-Request-Id` if it is usable, else `id`.
 */
export interface LedgerEntry {
  id: string;
  kind: "charge" | "refund" | "adjustment";
  requestId: string;
  organizationId: string;
  keyId: string;
  /** `playground/` and the name of the member who sent the request in the console; absent for a key's holder. */
  source?: string;
  /** The client program that sent the request, as `clientProgram` returns it; absent when it is unknown. */
  client?: string;
  model: string;
  /** Channel and vendor model of the charged or abandoned call. */
  channel: string;
  upstreamModel: string;
  /** Unix milliseconds at which the entry was created. */
  at: number;
  /** Unix milliseconds at which the request was admitted and priced; absent in old charges and in corrections. */
  admittedAt?: number;
  usage: Usage | null;
  /** The charged amount; negative only for a refund. */
  amount: Nanos;
  currency: string;
  priceSource: PriceSource;
  /** Estimated cost of vendor calls whose response was not delivered. It is recorded but never billed. */
  orphanCost: Nanos;
  /** The cost of the delivered work as the vendor reports it, never billed; absent when the vendor reports none. */
  vendorCost?: VendorCost;
  /** Ids of the budgets in which the entry counts. */
  budgets: readonly string[];
  attempts: readonly Attempt[];
  flags: readonly LedgerFlag[];
  /** Id of the charge that this refund or adjustment corrects. */
  corrects?: string;
  /**
   * Position of the entry in the order of posting, set when the ledger is read. Entries of earlier versions have none.
   */
  sequence?: number;
}

/** A ledger entry as JSON, with money as decimal strings of nano-units. */
type WrittenEntry = Omit<LedgerEntry, "amount" | "orphanCost" | "vendorCost"> & {
  amount: string;
  orphanCost: string;
  vendorCost?: { amount: string; currency: string };
};

export function writeEntry(entry: LedgerEntry): WrittenEntry {
  const { amount, orphanCost, vendorCost } = entry;
  return {
    ...entry,
    amount: amount.toString(),
    orphanCost: orphanCost.toString(),
    // JSON omits undefined fields.
    vendorCost: vendorCost && { ...vendorCost, amount: vendorCost.amount.toString() },
  };
}

/** Reads an entry that `writeEntry` wrote. */
export function readEntry({ amount, orphanCost, vendorCost, ...rest }: WrittenEntry): LedgerEntry {
  return {
    ...rest,
    amount: BigInt(amount),
    orphanCost: BigInt(orphanCost),
    ...(vendorCost && { vendorCost: { ...vendorCost, amount: BigInt(vendorCost.amount) } }),
  };
}

/** Returns the amount of a charge minus the vendor's cost; null when this cost is unknown or in another currency. */
export function marginOf({ amount, currency, vendorCost }: LedgerEntry): Nanos | null {
  return vendorCost?.currency === currency ? amount - vendorCost.amount : null;
}

/** `price_correction` marks a refund or an adjustment after the correction of a price. */
export type LedgerFlag =
  "estimated" | "anomalous" | "partial" | "caller_gone" | "over_hold" | "price_correction";

/** The largest possible charge: over a billion units. Seven of them fit into a database's signed 64-bit number. */
export const MAX_CHARGE: Nanos = 2n ** 60n;

/** One call to a vendor, with its outcome. */
export interface Attempt {
  channel: string;
  upstreamModel: string;
  durationMs: number;
  outcome: "answered" | "caller_gone" | "stopped" | UpstreamErrorKind;
  /** HTTP status of a failed call; absent for a reply, and when no status is known. */
  status?: number;
  /** True when the vendor may have done the work, and may charge for it, although no usable response arrived. */
  isAmbiguous?: boolean;
  /** The vendor's own id of the call, from its response. */
  vendorRequestId?: string;
  /** The caller's fields that had no effect at this vendor, at most as many as fit into a header. */
  ignoredParams?: readonly string[];
}
