import { COUNTED_FEATURES } from "../domain/feature.ts";
import { marginOf, type LedgerEntry } from "../domain/ledger.ts";
import { TOKEN_CATEGORIES, TOKEN_CATEGORY_NAMES } from "../domain/usage.ts";
import { formatNanos } from "../lib/money.ts";

type Column = readonly [heading: string, cell: (entry: LedgerEntry) => string | number | null | undefined];

/** New columns are added at the end, so that readers by position keep working. */
const COLUMNS: readonly Column[] = [
  ["id", ({ id }) => id],
  ["kind", ({ kind }) => kind],
  ["at", ({ at }) => new Date(at).toISOString()],
  ["organization", ({ organizationId }) => organizationId],
  ["key", ({ keyId }) => keyId],
  ["request", ({ requestId }) => requestId],
  ["model", ({ model }) => model],
  ["channel", ({ channel }) => channel],
  ["upstream_model", ({ upstreamModel }) => upstreamModel],
  ["amount", ({ amount }) => formatNanos(amount)],
  ["currency", ({ currency }) => currency],
  ["price_source", ({ priceSource }) => priceSource],
  ["orphan_cost", ({ orphanCost }) => formatNanos(orphanCost)],
  ["corrects", ({ corrects }) => corrects],
  ["flags", ({ flags }) => flags.join(" ")],
  ["attempts", ({ attempts }) => attempts.length],
  ["images", ({ usage }) => (usage?.unit === "image" ? usage.count : null)],
  ["tier", ({ usage }) => (usage?.unit === "image" ? usage.tier : null)],
  ["quality", ({ usage }) => (usage?.unit === "image" ? usage.quality : null)],
  ...TOKEN_CATEGORIES.map((category): Column => [
    `${TOKEN_CATEGORY_NAMES[category]}_tokens`,
    ({ usage }) => (usage?.unit === "token" ? usage.tokens[category] : null),
  ]),
  ...COUNTED_FEATURES.map((feature): Column => [
    `${feature}_uses`,
    ({ usage }) => (usage?.unit === "token" ? usage.uses?.[feature] : null),
  ]),
  ["vendor_cost", ({ vendorCost }) => vendorCost && formatNanos(vendorCost.amount)],
  ["vendor_cost_currency", ({ vendorCost }) => vendorCost?.currency],
  ["margin", (entry) => marginText(entry)],
];

/** A ledger as CSV by RFC 4180. Its lines end with a line feed, as tools on a command line expect. */
export const CSV_HEADINGS = `${COLUMNS.map(([heading]) => heading).join(",")}\n`;

/** What a charge leaves above the vendor's cost, where that is known. */
export function marginText(entry: LedgerEntry): string | null {
  const margin = marginOf(entry);
  return margin === null ? null : formatNanos(margin);
}

export function toCsvLine(entry: LedgerEntry): string {
  return `${COLUMNS.map(([, cell]) => quote(cell(entry))).join(",")}\n`;
}

/**
 * Spreadsheets run a cell as a formula when it begins with one of these, and request ids are chosen by callers. An
 * apostrophe makes such a cell text. A negative amount stays a number.
 */
const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^-?\d+(\.\d+)?$/;

function quote(cell: string | number | null | undefined): string {
  const text = String(cell ?? "");
  const harmless = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
