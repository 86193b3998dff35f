import { divideHalfUp, type Nanos } from "../lib/money.ts";
import { isBilledFeature, type Feature } from "./feature.ts";
import {
  amountAt,
  imageRate,
  tokenRate,
  type Price,
  type PriceSource,
  type Rate,
  type TokenPrice,
} from "./price.ts";
import {
  INPUT_CATEGORIES,
  sumTokens,
  TOKEN_CATEGORIES,
  type TokenCategory,
  type TokenUsage,
  type Usage,
} from "./usage.ts";

/** The price of a usage. */
export interface ChargedAmount {
  /** Rounded once, half up. */
  amount: Nanos;
  /** `organization` when at least one of the rates is the organization's own. */
  source: PriceSource;
}

/** Prices a usage: the only multiplication of money. Undefined when the price has no rate for it. */
export function charge(price: Price, usage: Usage): ChargedAmount | undefined {
  const lines = chargeLines(price, usage);
  if (!lines) return undefined;
  let millionths = 0n;
  // A usage without lines names its price source as well.
  let source: PriceSource = price.unit === "token" ? tokenRate(price, "input").source : "default";
  for (const line of lines) {
    millionths += line.millionths;
    if (line.rate.source === "organization") source = line.rate.source;
  }
  return { amount: divideHalfUp(millionths, MILLION), source };
}

const MILLION = 1_000_000n;

/** One factor of a charge: a quantity at a price. */
export interface ChargeLine {
  what: "image" | TokenCategory | Feature;
  quantity: number;
  rate: Rate;
  /** The rate's amount in this request, for `per` of the quantity. */
  unitPrice: Nanos;
  per: 1 | 1_000_000;
  /** Their product in millionths of a nano-unit: only the sum of lines is rounded. */
  millionths: bigint;
}

/** Prices a usage line by line. Undefined when the price lacks a rate for a part of it. */
export function chargeLines(price: Price, usage: Usage): ChargeLine[] | undefined {
  if (usage.unit === "token") return price.unit === "token" ? tokenLines(price, usage) : undefined;
  const rate = price.unit === "image" ? imageRate(price, usage.tier, usage.quality) : undefined;
  return rate && [useLine("image", usage.count, rate)];
}

/** Undefined when a feature that is billed by use has no rate. */
function tokenLines(price: TokenPrice, usage: TokenUsage): ChargeLine[] | undefined {
  const lines: ChargeLine[] = [];
  const inputTokens = sumTokens(usage.tokens, INPUT_CATEGORIES);
  for (const what of TOKEN_CATEGORIES) {
    const quantity = usage.tokens[what];
    if (!quantity) continue;
    const rate = tokenRate(price, what);
    const unitPrice = amountAt(rate, inputTokens);
    lines.push({ what, quantity, rate, unitPrice, per: 1_000_000, millionths: BigInt(quantity) * unitPrice });
  }
  for (const [name, count] of Object.entries(usage.uses ?? {})) {
    const rate = price.perUse?.[name as Feature];
    if (rate) lines.push(useLine(name as Feature, count, rate));
    else if (count > 0 && isBilledFeature(name as Feature)) return undefined;
  }
  return lines;
}

function useLine(what: "image" | Feature, quantity: number, rate: Rate): ChargeLine {
  const millionths = BigInt(quantity) * rate.amount * MILLION;
  return { what, quantity, rate, unitPrice: rate.amount, per: 1, millionths };
}
