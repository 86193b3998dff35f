import type { Feature } from "../domain/feature.ts";
import { tokenRate, type Price, type PriceAmounts, type Rate, type TokenPrice } from "../domain/price.ts";
import { TOKEN_CATEGORIES, TOKEN_CATEGORY_NAMES } from "../domain/usage.ts";
import { formatNanos, type Nanos } from "../lib/money.ts";

/** One priced cell under the name by which options set it: `cache_read`, `1K:high`. */
interface NamedAmount<Value = Nanos> {
  name: string;
  value: Value;
}

/** A price row in a line: `input 0.10, input above 200000 0.20 a million`, `1K:high 0.04 each`. */
export function priceText(price: PriceAmounts): string {
  if (price.unit === "image") return `${amountsText(rowCells(price))} each`;
  const perUse = useCells(price.perUse ?? {});
  const parts = [
    ...(rowCells(price).length > 0 ? [`${amountsText(rowCells(price))} a million`] : []),
    ...(perUse.length > 0 ? [amountsText(perUse)] : []),
  ];
  return parts.join(", ");
}

function amountsText(cells: readonly NamedAmount[]): string {
  return cells.map(({ name, value }) => `${name} ${formatNanos(value)}`).join(", ");
}

function useCells<Value>(perUse: Readonly<Partial<Record<Feature, Value>>>): NamedAmount<Value>[] {
  return Object.entries(perUse).map(([feature, value]) => ({ name: `${feature} use`, value }));
}

function rowCells(price: PriceAmounts): NamedAmount[] {
  if (price.unit === "image") return imageCells(price.perImage);
  const { perMillion, longContext } = price;
  const long = longContext ? tokenCells(longContext.perMillion) : [];
  return [
    ...tokenCells(perMillion),
    ...long.map(({ name, value }) => ({ name: longName(name, longContext?.above), value })),
  ];
}

/** The name of a category's cell for requests with more input than that. */
function longName(name: string, above: number | undefined): string {
  return `${name} above ${above}`;
}

/** The rates of a resolved price. */
export function namedRates(price: Price): NamedAmount<Rate>[] {
  return price.unit === "image"
    ? imageCells(price.perImage)
    : withOthers(price, tokenCells(price.perMillion));
}

/** The same with what every category of tokens costs, also those that cost as another one. */
export function effectiveRates(price: Price): NamedAmount<Rate>[] {
  if (price.unit === "image") return namedRates(price);
  const rates = TOKEN_CATEGORIES.map((category) => ({
    name: TOKEN_CATEGORY_NAMES[category],
    value: tokenRate(price, category),
  }));
  return withOthers(price, rates);
}

/** What everything costs before and after a change of prices. */
export function comparedRates(before: Price | null, after: Price | null) {
  const [old, changed] = [before, after].map(
    (price) => new Map((price ? effectiveRates(price) : []).map(({ name, value }) => [name, value])),
  );
  return [...new Set([...(old?.keys() ?? []), ...(changed?.keys() ?? [])])].map((cell) => {
    // What a cell without an amount of its own costs.
    const general = cell.replace(/:.*/, ":*").replace(/ above .*/, "");
    const was = old?.get(cell) ?? old?.get(general);
    const is = changed?.get(cell) ?? changed?.get(general);
    return {
      cell,
      before: was ? formatNanos(was.amount) : null,
      after: is ? formatNanos(is.amount) : null,
      source: is?.source ?? null,
    };
  });
}

/** Rates of tokens with those of long requests and of features behind them. */
function withOthers({ perUse = {} }: TokenPrice, rates: readonly NamedAmount<Rate>[]): NamedAmount<Rate>[] {
  const long = rates.flatMap(({ name, value: { longContext, ...rate } }) =>
    longContext
      ? [{ name: longName(name, longContext.above), value: { ...rate, amount: longContext.amount } }]
      : [],
  );
  return [...rates, ...long, ...useCells(perUse)];
}

function imageCells<Value>(perImage: Readonly<Record<string, Readonly<Record<string, Value>>>>) {
  return Object.entries(perImage).flatMap(([tier, row]) =>
    Object.entries(row).map(([quality, value]) => ({ name: `${tier}:${quality}`, value })),
  );
}

function tokenCells<Value>(
  perMillion: Readonly<Partial<Record<(typeof TOKEN_CATEGORIES)[number], Value>>>,
): NamedAmount<Value>[] {
  return TOKEN_CATEGORIES.flatMap((category) => {
    const value = perMillion[category];
    return value === undefined ? [] : [{ name: TOKEN_CATEGORY_NAMES[category], value }];
  });
}
