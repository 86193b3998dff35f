import type { Target } from "../../domain/channel.ts";
import { MAX_CHARGE, type LedgerEntry, type LedgerFlag } from "../../domain/ledger.ts";
import { charge, type ChargedAmount, type Price } from "../../domain/price.ts";
import type { Usage } from "../../domain/usage.ts";
import type { Nanos } from "../../lib/money.ts";
import type { RequestContext } from "../request-context.ts";
import type { Hold } from "./budget-leases.ts";

export interface ChargeFacts {
  context: RequestContext;
  model: string;
  price: Price;
  hold: Hold;
  target: Target;
  usage: Usage;
  /** The requested usage, where it may be more than was delivered. */
  requested?: Usage;
  /** Replies that a vendor was paid for and nobody received. */
  abandoned?: readonly Usage[];
  /** Unix milliseconds at which the price was taken. */
  admittedAt: number;
  flags: readonly LedgerFlag[];
  /** Unix milliseconds. */
  at: number;
}

/**
 * Returns the ledger entry for the usage of a request. Throws when the price does not cover it, so that nothing is free
 * by mistake, and when the amount is too large for the ledger, because a refused entry would leave its budget in debt.
 */
export function chargeEntry({
  context,
  model,
  price,
  hold,
  target,
  usage,
  requested = usage,
  abandoned = [],
  admittedAt,
  flags,
  at,
}: ChargeFacts): LedgerEntry {
  const { amount, source } = requireCharge(price, usage);
  const { vendorCost } = usage;
  const consumed = vendorCost ? withoutVendorCost(usage) : usage;
  const allFlags = [...flags];
  if (usage.unit === "token" && usage.source === "estimated") allFlags.push("estimated");
  if (usage.unit === "token" && usage.anomalous) allFlags.push("anomalous");
  if (hold.leases.length > 0 && amount > hold.amount) allFlags.push("over_hold");
  const { principal, attempts } = context;
  let ambiguous = 0;
  for (const { isAmbiguous } of attempts) if (isAmbiguous) ambiguous += 1;
  return {
    id: context.id,
    kind: "charge",
    requestId: context.requestId,
    organizationId: principal.organization.id,
    keyId: principal.key.id,
    ...(context.source !== null && { source: context.source }),
    ...(context.client !== null && { client: context.client }),
    model,
    channel: target.channel.id,
    upstreamModel: target.upstreamModel,
    at,
    admittedAt,
    usage: consumed,
    amount,
    currency: price.currency,
    priceSource: source,
    ...(vendorCost && { vendorCost }),
    // Each by itself: together they could seem to be one long request, which costs more.
    orphanCost: abandoned.reduce(
      (sum, each) => sum + costOf(price, each, 1),
      costOf(price, requested, ambiguous),
    ),
    budgets: hold.leases.length === 0 ? NO_BUDGETS : hold.leases.map(({ budget }) => budget),
    attempts,
    flags: allFlags,
  };
}

const NO_BUDGETS: string[] = [];

function withoutVendorCost(usage: Usage): Usage {
  const consumed = { ...usage };
  delete consumed.vendorCost;
  return consumed;
}

function costOf(price: Price, usage: Usage, times: number): Nanos {
  return times > 0 ? requireCharge(price, usage).amount * BigInt(times) : 0n;
}

function requireCharge(price: Price, usage: Usage): ChargedAmount {
  const found = charge(price, usage);
  if (found && found.amount > MAX_CHARGE) throw new RangeError("the charge is too large for the ledger");
  if (found) return found;
  const cell = usage.unit === "image" ? `${usage.tier}:${usage.quality}` : "tokens";
  throw new Error(`the price by ${price.unit} has no rate for ${cell}`);
}
