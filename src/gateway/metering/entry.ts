import type { Target } from "../../domain/channel.ts";
import type { LedgerEntry, LedgerFlag } from "../../domain/ledger.ts";
import { charge, type Price } from "../../domain/price.ts";
import type { Usage } from "../../domain/usage.ts";
import type { RequestContext } from "../request-context.ts";
import type { Hold } from "./budget-leases.ts";

export interface ChargeFacts {
  visit: RequestContext;
  model: string;
  price: Price;
  hold: Hold;
  target: Target;
  usage: Usage;
  /** What was asked for, where that may be more than was delivered. */
  asked?: Usage;
  flags: readonly LedgerFlag[];
  /** Unix milliseconds. */
  at: number;
}

/** The ledger line for what a request used. */
export function chargeEntry({
  visit,
  model,
  price,
  hold,
  target,
  usage,
  asked = usage,
  flags,
  at,
}: ChargeFacts): LedgerEntry {
  const amount = charge(price, usage) ?? 0n;
  const marks = [...flags];
  if (usage.unit === "token" && usage.source === "estimated") marks.push("estimated");
  if (usage.unit === "token" && usage.anomalous) marks.push("anomalous");
  if (hold.leases.length > 0 && amount > hold.amount) marks.push("over_hold");
  const { principal, event } = visit;
  const ambiguous = event.attempts.filter(({ isAmbiguous }) => isAmbiguous).length;
  return {
    id: visit.id,
    kind: "charge",
    requestId: event.requestId,
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
    orphanCost: (charge(price, asked) ?? 0n) * BigInt(ambiguous),
    budgets: hold.leases.map(({ budget }) => budget),
    attempts: event.attempts,
    flags: marks,
  };
}
