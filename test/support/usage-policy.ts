import type { UsagePolicy } from "../../src/domain/usage.ts";
import { billableUsage } from "../../src/gateway/metering/usage-policy.ts";

/** The gateway's policy for a request with the given input and bounds that are never reached. */
export function policyFor(estimatedInput: number): UsagePolicy {
  const bounds = { estimatedInput, maxInput: 1_000_000, maxOutput: 1_000_000, maxUses: {} };
  return (observed) => billableUsage(bounds, observed);
}
