import {
  readVendorCost,
  saneCount,
  type TokenCounts,
  type UsageReport,
  type VendorCost,
} from "../domain/usage.ts";
import { removeMember } from "../lib/json-edit.ts";
import { isObject } from "../lib/json.ts";

/** Reads counts and remembers whether one of them was impossible; absent and null count as not reported. */
export class CountReader {
  isAnomalous = false;

  read(value: unknown): number | null {
    if (value === undefined || value === null) return null;
    const count = saneCount(value);
    if (count === null) this.isAnomalous = true;
    return count;
  }

  /** A count that is part of another one. */
  readPart(value: unknown, max: number): number {
    const count = this.read(value) ?? 0;
    if (count > max) this.isAnomalous = true;
    return Math.min(count, max);
  }

  /** Reads a total that is told beside its parts; one that is not their sum is impossible. */
  checkTotal(value: unknown, ...sums: readonly number[]): void {
    const total = this.read(value);
    if (total !== null && !sums.includes(total)) this.isAnomalous = true;
  }

  /** Returns the report of these tokens. `totals` are the vendor's own counts of both sides, null where it sent none. */
  report(
    tokens: TokenCounts,
    totals: { input: number | null; output: number | null },
    cost?: VendorCost,
  ): UsageReport {
    return {
      tokens,
      hasInput: totals.input !== null,
      hasOutput: totals.output !== null,
      isAnomalous: this.isAnomalous,
      ...(cost && { cost }),
    };
  }
}

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
