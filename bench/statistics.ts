export interface Spread {
  median: number;
  min: number;
  max: number;
}

/** Throws when a figure is missing or infinite, because a median would hide the invalid value. */
export function spreadOf(values: readonly number[]): Spread {
  if (values.length === 0 || !values.every(Number.isFinite))
    throw new Error(`No spread of ${values.join(", ")}`);
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const median = ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
  return { median, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN };
}

/** Returns the value below which this share of the values lies. Any order is allowed. NaN for no values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const rank = Math.min(sorted.length - 1, Math.floor(sorted.length * share));
  return sorted[rank] ?? Number.NaN;
}
