import { useTranslation } from "react-i18next";
import type { Output } from "../../api/call.ts";
import { formatCount } from "../../ui/text/format.ts";

/** The prices of one model that are in force now. */
export type ModelPrices = Output<"prices.table">["data"][number];
/** A price row, from the configuration or the database. */
export type PriceRowView = Output<"prices.list">["data"][number];
export type PriceCell = ModelPrices["cells"][number];

/** Returns the cell for images of a tier and quality. If there is none, returns the tier's cell for all qualities. */
export function imageCell({ cells }: ModelPrices, tier: string, quality: string): PriceCell | undefined {
  const named = (name: string) => cells.find(({ cell }) => cell === `${tier}:${name}`);
  return named(quality) ?? named("*");
}

/**
 * Returns the columns of the table of image prices: the model's qualities, or one column for `auto` or all qualities.
 */
export function qualitiesOf({ qualities, cells }: ModelPrices): string[] {
  if (qualities.length > 0) return qualities;
  const named = cells.flatMap(({ cell }) => cell.split(":")[1] ?? []);
  return named.includes("auto") ? ["auto"] : ["*"];
}

/** Returns the latest start of all cells. From that time the whole price is in force. Null when no cell has a start. */
export function latestOf({ cells }: ModelPrices): string | null {
  return (
    cells
      .flatMap(({ effectiveFrom }) => effectiveFrom ?? [])
      .toSorted()
      .at(-1) ?? null
  );
}

/** The token categories by the names of their cells. */
export const CATEGORIES = {
  input: "input",
  cache_read: "cacheRead",
  cache_write: "cacheWrite",
  cache_write_1h: "cacheWrite1h",
  output: "output",
  reasoning: "reasoning",
  image_input: "imageInput",
  image_output: "imageOutput",
} as const;

export type Category = (typeof CATEGORIES)[keyof typeof CATEGORIES];

/** The parsed name of a cell. `above` is the number of input tokens above which the cell applies; null means always. */
type CellName =
  | { kind: "image"; tier: string; quality: string }
  | { kind: "token"; category: Category; above: number | null }
  | { kind: "use"; feature: string };

function isTokenCell(name: string): name is keyof typeof CATEGORIES {
  return Object.hasOwn(CATEGORIES, name);
}

function readCellName(cell: string): CellName {
  const [, feature] = /^(.+) use$/.exec(cell) ?? [];
  if (feature !== undefined) return { kind: "use", feature };
  const [tier = "", quality] = cell.split(":");
  if (quality !== undefined) return { kind: "image", tier, quality };
  const [name = "", above] = cell.split(" above ");
  if (!isTokenCell(name)) return { kind: "use", feature: cell };
  const category = CATEGORIES[name];
  return { kind: "token", category, above: above === undefined ? null : Number(above) };
}

/** Returns a function that returns the name of a cell in words. */
export function useCellText(): (cell: string) => string {
  const { t } = useTranslation(["prices", "money"]);
  const qualityOf = (quality: string) => (quality === "*" ? t("quality.any") : quality);
  return (cell) => {
    const name = readCellName(cell);
    if (name.kind === "image") return `${name.tier} · ${qualityOf(name.quality)}`;
    if (name.kind === "use") return t("use", { feature: name.feature });
    const category = t(`money:token.${name.category}`);
    return name.above === null ? category : t("above", { category, count: formatCount(name.above) });
  };
}
