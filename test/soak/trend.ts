/** A figure over time: what it was, what it became, and how it grows. */
export interface Trend {
  first: number;
  last: number;
  /** By the least squares, in the figure's unit per hour. */
  perHour: number;
}

/** The trend of samples, each with its time in seconds. The ends are medians of a tenth of the samples. */
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

/** A value that so large a share of the values is not above; 0 of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
