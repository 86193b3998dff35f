import type { ObservedUsage, UsagePolicy, UseCounts } from "../../src/domain/usage.ts";
import { billableUsage } from "../../src/gateway/metering/usage-policy.ts";

const WIDE = { maxInput: 1_000_000, maxVisible: 1_000_000, maxOutput: 1_000_000 };

/** Returns the gateway's policy for this input. Its bounds cannot be reached, except the bounds in `maxUses`. */
export function policyFor(estimatedInput: number, maxUses: UseCounts = {}): UsagePolicy {
  const bounds = { estimatedInput, ...WIDE, maxUses };
  return (observed) => billableUsage(bounds, observed);
}

/** Returns a policy that records the observed usage. */
export function observingPolicy(): { policy: UsagePolicy; last(): ObservedUsage | null } {
  const bill = policyFor(3);
  let last: ObservedUsage | null = null;
  return { policy: (observed) => bill((last = observed)), last: () => last };
}
