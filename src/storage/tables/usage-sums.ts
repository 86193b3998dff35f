import { startOfSpan } from "../../domain/span.ts";
import type { LedgerEntry } from "../../domain/ledger.ts";
import { TOKEN_CATEGORIES, TOKEN_CATEGORY_NAMES, type TokenCategory } from "../../domain/usage.ts";
import type { Sums } from "../database/sql.ts";

/** The tables of sums of the ledger, each with the span that one row is for. */
const LEVELS = [
  { table: "usage_hours", span: "hour" },
  { table: "usage_days", span: "day" },
  { table: "usage_months", span: "month" },
] as const;

const USAGE_KEY = ["at", "organization_id", "key_id", "model", "channel", "currency"] as const;

/** Columns of numbers beside the token categories. */
interface UsageNumbers {
  requests: number;
  images: number;
  tokens: number;
  amount: bigint;
  orphan_cost: bigint;
  vendor_cost: bigint;
  costed: bigint;
}

type UsageRow = Record<(typeof USAGE_KEY)[number], string | number> & UsageNumbers & Record<string, unknown>;

/** The amounts that new entries add to the sums of their hours, days and months. */
export function usageSums(entries: readonly LedgerEntry[]): Sums[] {
  return LEVELS.map(({ table, span }) => {
    const rows = new Map<string, UsageRow>();
    for (const entry of entries) {
      const at = startOfSpan(span, entry.at);
      const { organizationId, keyId, model, currency } = entry;
      const channel = entry.channel ?? "";
      const name = [String(at).padStart(16, "0"), organizationId, keyId, model, channel, currency].join("\n");
      let row = rows.get(name);
      if (!row) {
        row = newRow({ at, organization_id: organizationId, key_id: keyId, model, channel, currency });
        rows.set(name, row);
      }
      addEntry(row, entry);
    }
    // Two transactions that add to the same rows take their locks in one order.
    const names = [...rows.keys()].sort();
    return { table, key: USAGE_KEY, rows: names.map((name) => rows.get(name) ?? {}) };
  });
}

function newRow(key: Record<(typeof USAGE_KEY)[number], string | number>): UsageRow {
  const tokens = Object.fromEntries(
    TOKEN_CATEGORIES.map((category) => [TOKEN_CATEGORY_NAMES[category], 0]),
  ) as Record<string, number>;
  return {
    ...key,
    requests: 0,
    images: 0,
    tokens: 0,
    ...tokens,
    amount: 0n,
    orphan_cost: 0n,
    vendor_cost: 0n,
    costed: 0n,
  };
}

function addEntry(
  row: UsageRow,
  { kind, usage, amount, currency, orphanCost, vendorCost }: LedgerEntry,
): void {
  if (kind === "charge") row.requests += 1;
  row.amount += amount;
  row.orphan_cost += orphanCost;
  if (vendorCost?.currency === currency) {
    row.vendor_cost += vendorCost.amount;
    row.costed += amount;
  }
  if (usage?.unit === "image") row.images += usage.count;
  else if (usage)
    for (const [category, count] of Object.entries(usage.tokens)) {
      const column = TOKEN_CATEGORY_NAMES[category as TokenCategory];
      row[column] = (row[column] as number) + count;
      row.tokens += count;
    }
}
