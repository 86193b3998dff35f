import type { Feature } from "../domain/feature.ts";
import type { PriceRow } from "../domain/price.ts";
import type { SizeTier, TokenCategory } from "../domain/usage.ts";
import { camelCase } from "../lib/casing.ts";
import { parseNanos, type Nanos } from "../lib/money.ts";
import type { CompleteModel } from "./model-schema.ts";

/** The price of a model's entry, as a row that has always held for everyone. */
export function toPriceRow(price: NonNullable<CompleteModel["price"]>): PriceRow {
  const { currency } = price;
  const row = { currency, source: "default", effectiveFrom: 0, effectiveUntil: null } as const;
  if ("per_image" in price) {
    const perImage: Partial<Record<SizeTier, Record<string, Nanos>>> = {};
    for (const [tier, amounts] of Object.entries(price.per_image))
      perImage[tier as SizeTier] = Object.fromEntries(
        Object.entries(amounts).map(([key, value]) => [key, parseNanos(value)]),
      );
    return { ...row, unit: "image", perImage };
  }
  const long = "long_context" in price ? price.long_context : undefined;
  return {
    ...row,
    unit: "token",
    perMillion: toPerMillion(price.per_million),
    ...("per_use" in price && price.per_use && { perUse: toAmounts<Feature>(price.per_use) }),
    ...(long && { longContext: { above: long.above, perMillion: toPerMillion(long.per_million) } }),
  };
}

function toPerMillion(written: Readonly<Record<string, string | undefined>>) {
  const named = Object.entries(written).map(([category, value]) => [camelCase(category), value]);
  return toAmounts<TokenCategory>(Object.fromEntries(named));
}

function toAmounts<Name extends string>(written: Readonly<Record<string, string | undefined>>) {
  const amounts: Partial<Record<Name, Nanos>> = {};
  for (const [name, value] of Object.entries(written))
    if (value !== undefined) amounts[name as Name] = parseNanos(value);
  return amounts;
}
