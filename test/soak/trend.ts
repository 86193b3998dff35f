/** A figure over time: its first value, its last value and its growth. */
export interface Trend {
  first: number;
  last: number;
  /** Growth per hour in the figure's unit, by least squares. */
  perHour: number;
}

/** Returns the trend of samples. The first and last value are medians of a tenth of the samples. */
export function trendOf(samples: readonly (readonly [seconds: number, value: number])[]): Trend {
  const count = samples.length;
  const meanX = samples.reduce((sum, [x]) => sum + x, 0) / count;
  const meanY = samples.reduce((sum, [, y]) => sum + y, 0) / count;
  const covariance = samples.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  const variance = samples.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  const end = Math.max(1, Math.floor(count / 10));
  const values = samples.map(([, y]) => y);
  return {
    first: median(values.slice(0, end)),
    last: median(values.slice(-end)),
    perHour: variance === 0 ? 0 : (covariance / variance) * 3_600,
  };
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Returns the value that this share of the values does not exceed; 0 for no values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
