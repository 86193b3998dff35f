/** Money in nano-units (1e-9) of a currency. The gateway calculates money in bigints, never in floats. */
export type Nanos = bigint;

const NANOS_PER_UNIT = 1_000_000_000n;
const DECIMAL = /^(\d{1,9})(?:\.(\d{1,9}))?$/;

/**
 * Reads a plain decimal such as `"0.04"`, with at most nine digits before and after the point. Throws a `RangeError`
 * for any other text.
 */
export function parseNanos(decimal: string): Nanos {
  const match = DECIMAL.exec(decimal);
  if (!match?.[1]) throw new RangeError(`not a decimal amount: ${JSON.stringify(decimal)}`);
  return BigInt(match[1]) * NANOS_PER_UNIT + BigInt((match[2] ?? "").padEnd(9, "0"));
}

/** Writes the shortest decimal that is exact, with at least two decimals: `40000000n` is `"0.04"`. */
export function formatNanos(nanos: Nanos): string {
  const sign = nanos < 0n ? "-" : "";
  const absolute = nanos < 0n ? -nanos : nanos;
  const fraction = (absolute % NANOS_PER_UNIT)
    .toString()
    .padStart(9, "0")
    .replace(/0{1,7}$/, "");
  return `${sign}${absolute / NANOS_PER_UNIT}.${fraction}`;
}

/**
 * Writes an amount for sentences, rounded to the cent as the console does. Amounts below a cent have two significant
 * digits.
 */
export function formatShortNanos(nanos: Nanos): string {
  const absolute = nanos < 0n ? -nanos : nanos;
  const unit = absolute < CENT ? 10n ** BigInt(Math.max(0, absolute.toString().length - 2)) : CENT;
  const rounded = ((absolute + unit / 2n) / unit) * unit;
  return formatNanos(nanos < 0n ? -rounded : rounded);
}

const CENT = NANOS_PER_UNIT / 100n;

/** Writes millionths of a nano-unit exactly, with up to fifteen decimals. */
export function formatMillionths(millionths: bigint): string {
  const rest = (millionths % 1_000_000n)
    .toString()
    .padStart(6, "0")
    .replace(/(?<!0)0+$/, "");
  const whole = formatNanos(millionths / 1_000_000n);
  return rest === "" ? whole : `${whole.padEnd(whole.indexOf(".") + 10, "0")}${rest}`;
}

/** Divides and rounds half up. Both arguments must not be negative. */
export function divideHalfUp(numerator: bigint, denominator: bigint): bigint {
  return (numerator * 2n + denominator) / (denominator * 2n);
}
