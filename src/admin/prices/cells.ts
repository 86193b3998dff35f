import {
  amountAt,
  tokenRate,
  type Price,
  type PriceAmounts,
  type Rate,
  type TokenPrice,
} from "../../domain/price.ts";
import { TOKEN_CATEGORIES, TOKEN_CATEGORY_NAMES } from "../../domain/usage.ts";
import { formatNanos, type Nanos } from "../../lib/money.ts";

/** One cell of a price: its rate and its name, such as `cache_read` or `1K:high`. */
interface NamedRate {
  name: string;
  value: Rate;
}

/** Returns the rates of a resolved price. */
export function namedRates(price: Price): NamedRate[] {
  return price.unit === "image"
    ? imageCells(price.perImage)
    : withOthers(price, tokenCells(price.perMillion));
}

/**
 * Returns the rates of a price. A token price has a rate for every category, even for a category without an amount of
 * its own.
 */
export function effectiveRates(price: Price): NamedRate[] {
  if (price.unit === "image") return namedRates(price);
  const rates = TOKEN_CATEGORIES.map((category) => ({
    name: TOKEN_CATEGORY_NAMES[category],
    value: tokenRate(price, category),
  }));
  return withOthers(price, rates);
}

/** Returns all rates before and after a change of prices. */
export function comparedRates(before: Price | null, after: Price | null) {
  const [old, changed] = [before, after].map(
    (price) => new Map((price ? effectiveRates(price) : []).map(({ name, value }) => [name, value])),
  );
  return [...new Set([...(old?.keys() ?? []), ...(changed?.keys() ?? [])])].map((cell) => {
    // A cell without its own amount has the amount of a more general cell: `1K:*` for `1K:high`, `input` for `input
    // above 200000`.
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

/** Returns the amounts that a new row replaces, in the form of a row. */
export function replacedAmounts(price: Price, named: PriceAmounts): object {
  if (price.unit === "image" || named.unit === "image") {
    const tiers = new Map(price.unit === "image" ? Object.entries(price.perImage) : []);
    const rows = named.unit === "image" ? Object.entries(named.perImage) : [];
    return {
      perImage: Object.fromEntries(
        rows.map(([tier, row]) => {
          const was = tiers.get(tier) ?? {};
          return [tier, amountsOf(row, (quality) => (was[quality] ?? was["*"])?.amount)];
        }),
      ),
    };
  }
  const rates = new Map<string, Rate>(
    TOKEN_CATEGORIES.map((category) => [category, tokenRate(price, category)]),
  );
  const uses = new Map(Object.entries(price.perUse ?? {}));
  const { perMillion, longContext, perUse } = named;
  const longer = (name: string): Nanos | undefined => {
    const rate = rates.get(name);
    return rate && amountAt(rate, (longContext?.above ?? 0) + 1);
  };
  return {
    perMillion: amountsOf(perMillion, (name) => rates.get(name)?.amount),
    ...(longContext && { longContext: { perMillion: amountsOf(longContext.perMillion, longer) } }),
    ...(perUse && { perUse: amountsOf(perUse, (name) => uses.get(name)?.amount) }),
  };
}

function amountsOf(named: object, amountOf: (name: string) => Nanos | undefined): object {
  const amounts = Object.keys(named).map((name) => [name, amountOf(name)] as const);
  return Object.fromEntries(amounts.filter(([, amount]) => amount !== undefined));
}

/** Appends the rates of long requests and of features to the rates of tokens. */
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
