import { COUNTED_FEATURES } from "../../domain/feature.ts";
import { TOKEN_CATEGORIES, TOKEN_CATEGORY_NAMES } from "../../domain/usage.ts";
import type { Cell } from "./csv.ts";
import type { EntryView } from "../ledger/operations.ts";

/** The columns of the ledger as a table. New ones are added at the end, so that readers by position keep working. */
export const LEDGER_COLUMNS: readonly (readonly [heading: string, cell: (entry: EntryView) => Cell])[] = [
  ["id", ({ id }) => id],
  ["kind", ({ kind }) => kind],
  ["at", ({ at }) => at],
  ["organization", ({ organizationId }) => organizationId],
  ["key", ({ keyId }) => keyId],
  ["request", ({ requestId }) => requestId],
  ["model", ({ model }) => model],
  ["channel", ({ channel }) => channel],
  ["upstream_model", ({ upstreamModel }) => upstreamModel],
  ["amount", ({ amount }) => amount],
  ["currency", ({ currency }) => currency],
  ["price_source", ({ priceSource }) => priceSource],
  ["orphan_cost", ({ orphanCost }) => orphanCost],
  ["corrects", ({ corrects }) => corrects],
  ["flags", ({ flags }) => flags.join(" ")],
  ["attempts", ({ attempts }) => attempts.length],
  ["images", ({ usage }) => (usage?.unit === "image" ? usage.count : null)],
  ["tier", ({ usage }) => (usage?.unit === "image" ? usage.tier : null)],
  ["quality", ({ usage }) => (usage?.unit === "image" ? usage.quality : null)],
  ...TOKEN_CATEGORIES.map(
    (category) =>
      [
        `${TOKEN_CATEGORY_NAMES[category]}_tokens`,
        ({ usage }: EntryView) => (usage?.unit === "token" ? usage.tokens[category] : null),
      ] as const,
  ),
  ...COUNTED_FEATURES.map(
    (feature) =>
      [
        `${feature}_uses`,
        ({ usage }: EntryView) => (usage?.unit === "token" ? usage.uses?.[feature] : null),
      ] as const,
  ),
  ["vendor_cost", ({ vendorCost }) => vendorCost?.amount],
  ["vendor_cost_currency", ({ vendorCost }) => vendorCost?.currency],
  ["margin", ({ margin }) => margin],
  ["source", ({ source }) => source],
  ["sequence", ({ sequence }) => sequence],
  ["client", ({ client }) => client],
];
