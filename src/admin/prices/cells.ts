import type { Feature } from "../../domain/feature.ts";
import {
  amountAt,
  imageRate,
  tokenRate,
  type Price,
  type PriceAmounts,
  type Rate,
  type TokenPrice,
} from "../../domain/price.ts";
import {
  TOKEN_CATEGORIES,
  TOKEN_CATEGORY_NAMES,
  type SizeTier,
  type TokenCategory,
} from "../../domain/usage.ts";
import { formatNanos, type Nanos } from "../../lib/money.ts";

/** One priced cell under the name by which options set it: `cache_read`, `1K:high`. */
interface NamedRate {
  name: string;
  value: Rate;
}

/** The rates of a resolved price. */
export function namedRates(price: Price): NamedRate[] {
  return price.unit === "image"
    ? imageCells(price.perImage)
    : withOthers(price, tokenCells(price.perMillion));
}

/** The same rates with every category of tokens, also those that cost as much as another one. */
export function effectiveRates(price: Price): NamedRate[] {
  if (price.unit === "image") return namedRates(price);
  const rates = TOKEN_CATEGORIES.map((category) => ({
    name: TOKEN_CATEGORY_NAMES[category],
    value: tokenRate(price, category),
  }));
  return withOthers(price, rates);
}

/** Compares all rates before and after a change of prices. */
export function comparedRates(before: Price | null, after: Price | null) {
  const [old, changed] = [before, after].map(
    (price) => new Map((price ? effectiveRates(price) : []).map(({ name, value }) => [name, value])),
  );
  return [...new Set([...(old?.keys() ?? []), ...(changed?.keys() ?? [])])].map((cell) => {
    // A cell without an amount of its own costs as much as the general cell.
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

/** Returns what the cells that a row names cost at a price, in the form of a row. */
export function replacedAmounts(price: Price, named: PriceAmounts): PriceAmounts {
  if (price.unit === "image" || named.unit === "image") {
    const perImage: Extract<PriceAmounts, { unit: "image" }>["perImage"] = {};
    if (price.unit === "image" && named.unit === "image")
      for (const [tier, row] of Object.entries(named.perImage) as [SizeTier, Record<string, Nanos>][])
        perImage[tier] = amountsOf(Object.keys(row), (quality) => imageRate(price, tier, quality));
    return { unit: "image", perImage };
  }
  const { perMillion, longContext, perUse } = named;
  const above = longContext?.above ?? 0;
  const longer = (category: string): Pick<Rate, "amount"> => ({
    amount: amountAt(tokenRate(price, category as TokenCategory), above + 1),
  });
  return {
    unit: "token",
    perMillion: amountsOf(Object.keys(perMillion), (category) => tokenRate(price, category as TokenCategory)),
    ...(longContext && {
      longContext: { above, perMillion: amountsOf(Object.keys(longContext.perMillion), longer) },
    }),
    ...(perUse && {
      perUse: amountsOf(Object.keys(perUse), (feature) => price.perUse?.[feature as Feature]),
    }),
  };
}

function amountsOf(
  names: readonly string[],
  rateOf: (name: string) => Pick<Rate, "amount"> | undefined,
): Record<string, Nanos> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const rate = rateOf(name);
      return rate ? [[name, rate.amount]] : [];
    }),
  );
}

/** Rates of tokens with those of long requests and of features behind them. */
function withOthers({ perUse = {} }: TokenPrice, rates: readonly NamedRate[]): NamedRate[] {
  const long = rates.flatMap(({ name, value: { longContext, ...rate } }) =>
    longContext
      ? [{ name: `${name} above ${longContext.above}`, value: { ...rate, amount: longContext.amount } }]
      : [],
  );
  const uses = Object.entries(perUse).map(([feature, value]) => ({ name: `${feature} use`, value }));
  return [...rates, ...long, ...uses];
}

function imageCells(perImage: Readonly<Record<string, Readonly<Record<string, Rate>>>>): NamedRate[] {
  return Object.entries(perImage).flatMap(([tier, row]) =>
    Object.entries(row).map(([quality, value]) => ({ name: `${tier}:${quality}`, value })),
  );
}

function tokenCells(perMillion: TokenPrice["perMillion"]): NamedRate[] {
  return TOKEN_CATEGORIES.flatMap((category) => {
    const value = perMillion[category];
    return value === undefined ? [] : [{ name: TOKEN_CATEGORY_NAMES[category], value }];
  });
}
