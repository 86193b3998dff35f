/** How often a budget begins anew; days and months are UTC. */
export type Period = "total" | "day" | "month";

/**
 * The start of the period that `now` falls in, never before the one already running, so that a clock that jumps
 * back resets nothing twice. Unix milliseconds.
 */
export function runningPeriod(period: Period, startedAt: number, now: number): number {
  if (period === "total") return startedAt;
  const date = new Date(now);
  const day = period === "day" ? date.getUTCDate() : 1;
  return Math.max(startedAt, Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), day));
}
