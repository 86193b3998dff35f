import {
  readVendorCost,
  saneCount,
  type TokenCounts,
  type UsageReport,
  type VendorCost,
} from "../domain/usage.ts";
import { removeMember } from "../lib/json-edit.ts";
import { isObject } from "../lib/json.ts";

/** Reads counts. An absent or null count was not reported. `isAnomalous` becomes true when a count is impossible. */
export class CountReader {
  isAnomalous = false;

  read(value: unknown): number | null {
    if (value === undefined || value === null) return null;
    const count = saneCount(value);
    if (count === null) this.isAnomalous = true;
    return count;
  }

  /** Reads a count that is part of another count, `max`. */
  readPart(value: unknown, max: number): number {
    const count = this.read(value) ?? 0;
    if (count > max) this.isAnomalous = true;
    return Math.min(count, max);
  }

  /** Reads a total that is reported next to its parts. A total that differs from all `sums` is impossible. */
  checkTotal(value: unknown, ...sums: readonly number[]): void {
    const total = this.read(value);
    if (total !== null && !sums.includes(total)) this.isAnomalous = true;
  }

  /** Returns the report for these tokens. `totals` are the vendor's own counts; null for a count that was not sent. */
  report(
    tokens: TokenCounts,
    totals: { input: number | null; output: number | null },
    cost?: VendorCost,
  ): UsageReport {
    const report: UsageReport = {
      tokens,
      hasInput: totals.input !== null,
      hasOutput: totals.output !== null,
      isAnomalous: this.isAnomalous,
    };
    if (cost) report.cost = cost;
    return report;
  }
}

/** Number of ticks per US dollar (xAI API reference, `cost_in_usd_ticks`). */
const TICKS = 10_000_000_000;

/**
 * Returns the cost from a vendor's `usage`: `cost_in_usd_ticks`, or `cost` in US dollars (OpenRouter API, "Usage
 * accounting"). The cost is recorded only for vendors with the trait `reportsCost`, because other vendors may use these
 * fields differently.
 */
export function reportedCost(usage: Record<string, unknown>): VendorCost | undefined {
  return readVendorCost(usage["cost_in_usd_ticks"], TICKS) ?? readVendorCost(usage["cost"]);
}

/** Fields of a vendor's `usage` about the operator's cost or account, which callers must not see. */
const COST_FIELDS = ["cost", "cost_in_usd_ticks", "cost_details", "is_byok"];

export function tellsCost(usage: unknown): boolean {
  if (!isObject(usage)) return false;
  for (const field of COST_FIELDS) if (field in usage) return true;
  return false;
}

/** Returns the text of a `usage` object without the operator's cost. */
export function withoutCost(text: string): string {
  return COST_FIELDS.reduce(removeMember, text);
}
