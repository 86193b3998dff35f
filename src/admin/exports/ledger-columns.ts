import { COUNTED_FEATURES } from "../../domain/feature.ts";
import { TOKEN_CATEGORIES, TOKEN_CATEGORY_NAMES } from "../../domain/usage.ts";
import type { Cell } from "./csv.ts";
import type { EntryView } from "../ledger/operations.ts";

/**
 * A column: its heading, the function that returns its cell for an entry, and the type of the cell if it is not text.
 */
export type LedgerColumn = readonly [
  heading: string,
  cell: (entry: EntryView) => Cell,
  type?: "time" | "amount" | "count",
];

/** The columns of the ledger. New columns are added at the end, because programs may read by position. */
export const LEDGER_COLUMNS: readonly LedgerColumn[] = [
  ["id", ({ id }) => id],
  ["kind", ({ kind }) => kind],
  ["at", ({ at }) => at, "time"],
  ["organization", ({ organizationId }) => organizationId],
  ["key", ({ keyId }) => keyId],
  ["request", ({ requestId }) => requestId],
  ["model", ({ model }) => model],
  ["channel", ({ channel }) => channel],
  ["upstream_model", ({ upstreamModel }) => upstreamModel],
  ["amount", ({ amount }) => amount, "amount"],
  ["currency", ({ currency }) => currency],
  ["price_source", ({ priceSource }) => priceSource],
  ["orphan_cost", ({ orphanCost }) => orphanCost, "amount"],
  ["corrects", ({ corrects }) => corrects],
  ["flags", ({ flags }) => flags.join(" ")],
  ["attempts", ({ attempts }) => attempts.length, "count"],
  ["images", ({ usage }) => (usage?.unit === "image" ? usage.count : null), "count"],
  ["tier", ({ usage }) => (usage?.unit === "image" ? usage.tier : null)],
  ["quality", ({ usage }) => (usage?.unit === "image" ? usage.quality : null)],
  ...TOKEN_CATEGORIES.map(
    (category) =>
      [
        `${TOKEN_CATEGORY_NAMES[category]}_tokens`,
        ({ usage }: EntryView) => (usage?.unit === "token" ? usage.tokens[category] : null),
        "count",
      ] as const,
  ),
  ...COUNTED_FEATURES.map(
    (feature) =>
      [
        `${feature}_uses`,
        ({ usage }: EntryView) => (usage?.unit === "token" ? usage.uses?.[feature] : null),
        "count",
      ] as const,
  ),
  ["vendor_cost", ({ vendorCost }) => vendorCost?.amount, "amount"],
  ["vendor_cost_currency", ({ vendorCost }) => vendorCost?.currency],
  ["margin", ({ margin }) => margin, "amount"],
  ["source", ({ source }) => source],
  ["sequence", ({ sequence }) => sequence, "count"],
  ["client", ({ client }) => client],
];
