import type { Fault } from "../fault.ts";

const PRICE = "src/domain/price.ts";
const CHARGE = "src/domain/price.ts";
const QUOTE = "src/domain/image-quote.ts";
const SIZE = "src/domain/size.ts";
const INDEX = "src/admin/prices/price-index.ts";
const LOOKUP = "src/gateway/metering/price.ts";
const FIT = "src/gateway/admission/admit-images.ts";

const index = ["src/admin/prices/price-index.test.ts"];
const quote = ["src/domain/image-quote.test.ts"];
const size = ["src/domain/size.test.ts"];
const price = ["src/domain/price.test.ts"];
const long = ["src/domain/long-context.test.ts"];
const uses = ["src/domain/use-prices.test.ts"];
const lookup = ["src/gateway/metering/price.test.ts"];
const images = ["src/gateway/images.test.ts"];

/** Faults in the choice of a request's price, and in the amount for its usage. */
export const PRICE_FAULTS: readonly Fault[] = [
  {
    name: "a title that a vendor of embeddings reads is free",
    file: "src/dialects/embeddings/request.ts",
    find: "[...texts, ...titles]",
    replace: "texts",
    tests: ["test/e2e/embeddings.test.ts"],
  },
  {
    name: "a price in a foreign currency is accepted",
    file: INDEX,
    find: ".filter((row) => row.currency === currency)",
    replace: "",
    tests: index,
  },
  {
    name: "a price that was ended is still used",
    file: INDEX,
    find: "effectiveFrom <= now && (effectiveUntil === null || now < effectiveUntil)",
    replace: "effectiveFrom <= now",
    tests: index,
  },
  {
    name: "a price of the future is used",
    file: INDEX,
    find: "effectiveFrom <= now && (effectiveUntil === null || now < effectiveUntil)",
    replace: "effectiveUntil === null || now < effectiveUntil",
    tests: index,
  },
  {
    name: "a resolved price outlives the change of a row",
    file: INDEX,
    find: "known.from <= now && now < known.until",
    replace: "known.from <= now",
    tests: index,
  },
  {
    name: "a default price is stronger than the organization's own",
    file: INDEX,
    find: "[...(own ?? []), ...(owners.get(model)?.get(null) ?? [])]",
    replace: "[...(owners.get(model)?.get(null) ?? []), ...(own ?? [])]",
    tests: index,
  },
  {
    name: "one organization's price is another's too",
    file: INDEX,
    find: `own ? id : ""`,
    replace: `own ? "" : ""`,
    tests: index,
  },
  {
    name: "an earlier price row is stronger than a later one",
    file: INDEX,
    find: "other.effectiveFrom - one.effectiveFrom",
    replace: "one.effectiveFrom - other.effectiveFrom",
    tests: index,
  },
  {
    name: "an image tier without a row is free",
    file: PRICE,
    find: "return row && (ownValue(row, quality)",
    replace: `if (!row) return { amount: 0n, source: "default", effectiveFrom: 0 };
  return (ownValue(row, quality)`,
    tests: price,
  },
  {
    name: "the amount for all qualities covers none",
    file: PRICE,
    find: `ownValue(row, quality) ?? row["*"]`,
    replace: "ownValue(row, quality)",
    tests: quote,
  },
  {
    name: "a weaker row adds cells below the amount for all qualities",
    file: PRICE,
    find: `if (Object.hasOwn(cells, "*")) continue;`,
    replace: "",
    tests: index,
  },
  {
    name: "several pictures cost as much as one",
    file: CHARGE,
    find: "BigInt(quantity) * rate.amount * MILLION",
    replace: "rate.amount * MILLION",
    tests: price,
  },
  {
    name: "a category without a price falls back to the wrong one",
    file: PRICE,
    find: `cacheWrite1h: "cacheWrite",`,
    replace: `cacheWrite1h: "input",`,
    tests: price,
  },
  {
    name: "cached input is free",
    file: CHARGE,
    find: "    if (!quantity) continue;",
    replace: `    if (!quantity || what === "cacheRead") continue;`,
    tests: price,
  },
  {
    name: "a charge is rounded down",
    file: CHARGE,
    find: "divideHalfUp(millionths, MILLION), source",
    replace: "millionths / MILLION, source",
    tests: price,
  },
  {
    name: "a charge by an own rate counts as one by default",
    file: CHARGE,
    find: `    if (line.rate.source === "organization") source = line.rate.source;`,
    replace: "",
    tests: price,
  },
  {
    name: "a long request costs the ordinary prices",
    file: PRICE,
    find: "inputTokens > longContext.above ? longContext.amount : amount",
    replace: "inputTokens < longContext.above ? amount : amount",
    tests: long,
  },
  {
    name: "a request at the number of tokens counts as long",
    file: PRICE,
    find: "inputTokens > longContext.above",
    replace: "inputTokens >= longContext.above",
    tests: long,
  },
  {
    name: "cached input does not make a request long",
    file: CHARGE,
    find: "sumTokens(usage.tokens, INPUT_CATEGORIES)",
    replace: `sumTokens(usage.tokens, INPUT_CATEGORIES.filter((each) => each === "input"))`,
    tests: long,
  },
  {
    name: "uses of a feature are free",
    file: CHARGE,
    find: "lines.push(useLine(name, count, rate))",
    replace: "lines.push(useLine(name, 0, rate))",
    tests: uses,
  },
  {
    name: "a use without a price is free",
    file: CHARGE,
    find: "else if (count > 0 && isBilledFeature(name)) return undefined;",
    replace: "",
    tests: uses,
  },
  {
    name: "a feature without a price of a use is admitted",
    file: LOOKUP,
    find: "isBilledFeature(feature) && !perUse[feature]",
    replace: "isBilledFeature(feature) && !perUse",
    tests: lookup,
  },
  {
    name: "a model allows a feature without its price",
    file: "src/config/model-prices.ts",
    find: "(feature) => per_use[feature] === undefined",
    replace: "(feature) => per_use[feature] === feature",
    tests: ["src/config/text-prices.test.ts"],
  },
  {
    name: "the quote of auto is the cheapest quality",
    file: QUOTE,
    find: "rate.amount >= dearest.rate.amount",
    replace: "rate.amount <= dearest.rate.amount",
    tests: quote,
  },
  {
    name: "auto is billed at the quoted quality",
    file: QUOTE,
    find: `const chosen = reported ?? (quote.settlesBy === "delivered" ? defaultQuality : undefined);`,
    replace: "const chosen = [reported, defaultQuality].find(() => false);",
    tests: quote,
  },
  {
    name: "an auto price of its own gives way to the reported quality",
    file: QUOTE,
    find: `const isFixed = quote.settlesBy === "request" && quote.quality === "auto";`,
    replace: "const isFixed = false;",
    tests: quote,
  },
  {
    name: "a picture is billed dearer than its quote",
    file: QUOTE,
    find: "rate !== undefined && rate.amount <= limit",
    replace: "rate !== undefined && limit >= 0n",
    tests: quote,
  },
  {
    name: "a picture of a smaller tier costs the requested one",
    file: SIZE,
    find: "return TIERS.indexOf(smaller) < TIERS.indexOf(tier) ? smaller : tier;",
    replace: "return tier ?? smaller;",
    tests: size,
  },
  {
    name: "a size is priced one tier too low",
    file: SIZE,
    find: "([, ceiling]) => area <= ceiling",
    replace: "([, ceiling]) => area <= ceiling * 4",
    tests: size,
  },
  {
    name: "a price for other tiers counts as one for the model",
    file: LOOKUP,
    find: `image.tiers.some((tier) => quoteImage(price, image, tier, "auto")) ? price : null`,
    replace: "price",
    tests: lookup,
  },
  {
    name: "every quality is priced as auto",
    file: FIT,
    find: "priceQuality: fitted,",
    replace: `priceQuality: "auto",`,
    tests: images,
  },
];
