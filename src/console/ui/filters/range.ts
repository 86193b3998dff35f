import { useMemo } from "react";
import { useFilters } from "../../address.ts";
import { useNow } from "../text/time.tsx";
import { dayOf, startOfDay } from "../text/zone.ts";

export const RANGES = ["1h", "24h", "7d", "30d", "month"] as const;
export type RangeName = (typeof RANGES)[number];

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LENGTHS: Record<Exclude<RangeName, "month">, number> = {
  "1h": HOUR_MS,
  "24h": DAY_MS,
  "7d": 7 * DAY_MS,
  "30d": 30 * DAY_MS,
};
const STEP_MS = 60_000;

export interface Range {
  name: RangeName | "custom";
  /** ISO 8601. `to` is exclusive. */
  from: string;
  to: string;
}

/**
 * Returns the range in the address (`range=7d`, or `from` and `to`), else the usual range. A range that ends now moves
 * forward every minute.
 */
export function useRange(usual: RangeName = "24h"): Range {
  const { filters } = useFilters();
  const { range, from, to } = filters;
  const minute = Math.ceil(useNow() / STEP_MS) * STEP_MS;
  return useMemo(() => {
    if (from !== undefined && to !== undefined && Date.parse(from) < Date.parse(to))
      return { name: "custom", from: new Date(from).toISOString(), to: new Date(to).toISOString() };
    const name = RANGES.find((known) => known === range) ?? usual;
    return { name, from: new Date(startOf(name, minute)).toISOString(), to: new Date(minute).toISOString() };
  }, [range, from, to, minute, usual]);
}

/** Returns the range as parameters of an address, for links to pages that show the same range. */
export function useRangeSearch(usual: RangeName = "24h"): { range?: string; from?: string; to?: string } {
  const { name, from, to } = useRange(usual);
  return name === "custom" ? { from, to } : { range: name };
}

/** Returns a function that narrows the range in the address, for charts. */
export function useNarrowing(): (from: number, to: number) => void {
  const { change } = useFilters();
  return (from, to) => {
    const start = Math.floor(from / STEP_MS) * STEP_MS;
    const end = Math.max(start + STEP_MS, Math.ceil(to / STEP_MS) * STEP_MS);
    change({ range: undefined, from: new Date(start).toISOString(), to: new Date(end).toISOString() });
  };
}

/**
 * Returns the range in the address, for a list that is read page by page. The range's start stays fixed until the user
 * chooses another range, so that all pages belong to one list. `to` is absent for a range that ends now.
 */
export function useSteadyRange(usual: RangeName = "24h"): { from: string; to?: string } {
  const { name, from, to } = useRange(usual);
  const custom = name === "custom" ? `${from} ${to}` : "";
  // The start must change when the user chooses another range, but not when a minute passes.
  return useMemo(() => (custom === "" ? { from } : { from, to }), [name, custom]);
}

function startOf(name: RangeName, now: number): number {
  if (name !== "month") return now - LENGTHS[name];
  return startOfDay(`${dayOf(now).slice(0, 7)}-01`);
}
