import type { ObservedUsage, UsagePolicy, UseCounts } from "../../src/domain/usage.ts";
import { billableUsage } from "../../src/gateway/metering/usage-policy.ts";

const WIDE = { maxInput: 1_000_000, maxVisible: 1_000_000, maxOutput: 1_000_000 };

/** The gateway's policy for a request with the given input, and bounds that are never reached but those of uses. */
export function policyFor(estimatedInput: number, maxUses: UseCounts = {}): UsagePolicy {
  const bounds = { estimatedInput, ...WIDE, maxUses };
  return (observed) => billableUsage(bounds, observed);
}

/** A policy that keeps what it was last asked about. */
export function observingPolicy(): { policy: UsagePolicy; last(): ObservedUsage | null } {
  const bill = policyFor(3);
  let last: ObservedUsage | null = null;
  return { policy: (observed) => bill((last = observed)), last: () => last };
}
