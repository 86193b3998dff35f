import { dlopen, ptr } from "bun:ffi";

const CLOCK_THREAD_CPUTIME_ID = 3;

/** Returns the milliseconds for which this thread has run, or wall time on systems without this clock. */
export const threadTime: () => number = openClock() ?? (() => performance.now());

function openClock(): (() => number) | null {
  if (process.platform !== "linux") return null;
  const spec = new BigInt64Array(2);
  const { clock_gettime: read } = dlopen("libc.so.6", {
    clock_gettime: { args: ["i32", "ptr"], returns: "i32" },
  }).symbols;
  return () => {
    read(CLOCK_THREAD_CPUTIME_ID, ptr(spec));
    return Number(spec[0]) * 1_000 + Number(spec[1]) / 1_000_000;
  };
}

/** Times of the work with a quarter and with all of its items, in milliseconds of this thread. */
export interface Growth {
  quarter: number;
  whole: number;
}

/** Allowed growth of the time when there are four times the items: 2.5 for each doubling. Quadratic growth is 16. */
const MAX_GROWTH = 2.5 ** 2;
/** Minimum running time to judge growth, because other work of the runtime distorts shorter times. */
const MIN_MS = 4;
const MAX_TRIES = 6;

/**
 * Measures work several times. Returns the shortest times if all items take too long in comparison with a quarter.
 * Returns null as soon as the shortest times are in proportion or too short to judge.
 */
export function growsTooFast(work: (count: number) => void, most: number): Growth | null {
  let least: Growth = { quarter: Infinity, whole: Infinity };
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const quarter = timeOf(() => work(Math.floor(most / 4)));
    const whole = timeOf(() => work(most));
    least = { quarter: Math.min(least.quarter, quarter), whole: Math.min(least.whole, whole) };
    if (least.whole < MIN_MS || least.whole < MAX_GROWTH * least.quarter) return null;
  }
  return least;
}

function timeOf(work: () => void): number {
  const start = threadTime();
  work();
  return threadTime() - start;
}
