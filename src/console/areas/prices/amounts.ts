import { ApiError, type Input } from "../../api/call.ts";
import { CATEGORIES, qualitiesOf, type Category, type ModelPrices } from "./cells.ts";

/** The amounts of a price in a form, as texts. An empty text means no amount. */
export interface AmountValues {
  perImage: Record<string, Record<string, string>>;
  perMillion: Record<string, string>;
  longContext: { above: number | null; perMillion: Record<string, string> };
  perUse: Record<string, string>;
}

type Amounts = Pick<Input<"prices.create">, "perImage" | "perMillion" | "longContext" | "perUse">;

const NAMES: readonly Category[] = Object.values(CATEGORIES);

/** Returns the form's values for the price of a model, with all amounts empty. */
export function emptyAmounts(row: ModelPrices): AmountValues {
  const qualities = qualitiesOf(row);
  const blank = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, ""]));
  return {
    perImage: Object.fromEntries(row.tiers.map((tier) => [tier, blank(qualities)])),
    perMillion: blank(NAMES),
    longContext: { above: null, perMillion: blank(NAMES) },
    perUse: blank(row.features),
  };
}

/**
 * Converts the amounts of a form to the operation's input. Returns null when no amount is set, or only amounts of the
 * long context.
 */
export function toAmounts(values: AmountValues): Amounts | null {
  const perImage = named(
    Object.fromEntries(Object.entries(values.perImage).map(([tier, row]) => [tier, named(row)])),
  );
  const perMillion = named(values.perMillion);
  const long = named(values.longContext.perMillion);
  const perUse = named(values.perUse);
  if (!perImage && !perMillion && !perUse) return null;
  return {
    ...(perImage && { perImage }),
    ...(perMillion && { perMillion }),
    ...(long && { longContext: { above: values.longContext.above ?? 0, perMillion: long } }),
    ...(perUse && { perUse }),
  };
}

/** Returns the entries that have a value; undefined when there are none. */
function named<Value>(entries: Record<string, Value | undefined | "">): Record<string, Value> | undefined {
  const found = Object.entries(entries).filter(
    (entry): entry is [string, Value] => entry[1] !== undefined && entry[1] !== "",
  );
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

/** Returns the error without its field if price forms lack that field. The error is then shown above the form. */
export function withoutRowField(error: unknown): unknown {
  if (
    !(error instanceof ApiError) ||
    !/^(perImage(\.[^.]+)?|perMillion|longContext)$/.test(error.field ?? "")
  )
    return error;
  return new ApiError(error.status, error.type, error.message, null, error.requestId);
}
