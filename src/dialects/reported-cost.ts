import { isObject } from "../lib/json.ts";
import { removeMember } from "../lib/json-edit.ts";
import { readVendorCost, type VendorCost } from "../domain/vendor-cost.ts";

/** Ticks of a US dollar (xAI API reference, `cost_in_usd_ticks`). */
const TICKS = 10_000_000_000;

/**
 * The cost in a vendor's `usage`: `cost_in_usd_ticks`, or `cost` in US dollars (OpenRouter API, "Usage accounting").
 * The names may mean something else at other vendors, so a trait says which vendors report it.
 */
export function reportedCost(usage: Record<string, unknown>): VendorCost | undefined {
  return readVendorCost(usage["cost_in_usd_ticks"], TICKS) ?? readVendorCost(usage["cost"]);
}

/** Fields of a vendor's `usage` with the operator's cost, which callers do not see. */
const COST_FIELDS = ["cost", "cost_in_usd_ticks", "cost_details", "is_byok"];

export function tellsCost(usage: unknown): boolean {
  if (!isObject(usage)) return false;
  for (const field of COST_FIELDS) if (field in usage) return true;
  return false;
}

/** A `usage` object, as text, without these fields. */
export function withoutCost(text: string): string {
  return COST_FIELDS.reduce(removeMember, text);
}
