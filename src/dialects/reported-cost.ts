import { readVendorCost, type VendorCost } from "../domain/vendor-cost.ts";

/** Ticks of a US dollar (xAI API reference, `cost_in_usd_ticks`). */
const TICKS = 10_000_000_000;

/**
 * The cost in a vendor's `usage`: `cost_in_usd_ticks`, or `cost` in US dollars (OpenRouter API, "Usage accounting").
 * Other vendors may mean something else by these names, so only those that are known to report it are believed.
 */
export function reportedCost(usage: Record<string, unknown>): VendorCost | undefined {
  return readVendorCost(usage["cost_in_usd_ticks"], TICKS) ?? readVendorCost(usage["cost"]);
}
