import type { Target } from "../../domain/channel.ts";
import type { LedgerEntry, LedgerFlag } from "../../domain/ledger.ts";
import { charge, type Price } from "../../domain/price.ts";
import type { Usage } from "../../domain/usage.ts";
import type { RequestContext } from "../request-context.ts";
import type { Hold } from "./budget-leases.ts";

export interface ChargeFacts {
  context: RequestContext;
  model: string;
  price: Price;
  hold: Hold;
  target: Target;
  usage: Usage;
  /** What was requested, where that may be more than was delivered. */
  requested?: Usage;
  flags: readonly LedgerFlag[];
  /** Unix milliseconds. */
  at: number;
}

/** The ledger line for what a request used. */
export function chargeEntry({
  context,
  model,
  price,
  hold,
  target,
  usage,
  requested = usage,
  flags,
  at,
}: ChargeFacts): LedgerEntry {
  const amount = charge(price, usage) ?? 0n;
  const marks = [...flags];
  if (usage.unit === "token" && usage.source === "estimated") marks.push("estimated");
  if (usage.unit === "token" && usage.anomalous) marks.push("anomalous");
  if (hold.leases.length > 0 && amount > hold.amount) marks.push("over_hold");
  const { principal, attempts } = context;
  const ambiguous = attempts.filter(({ isAmbiguous }) => isAmbiguous).length;
  return {
    id: context.id,
    kind: "charge",
    requestId: context.requestId,
    organizationId: principal.organization.id,
    keyId: principal.key.id,
    model,
    channel: target.channel.id,
    upstreamModel: target.upstreamModel,
    at,
    usage,
    amount,
    currency: price.currency,
    priceSource: price.source,
    orphanCost: (charge(price, requested) ?? 0n) * BigInt(ambiguous),
    budgets: hold.leases.map(({ budget }) => budget),
    attempts,
    flags: marks,
  };
}
