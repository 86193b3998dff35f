import { dlopen, ptr } from "bun:ffi";

const CLOCK_THREAD_CPUTIME_ID = 3;

/** Milliseconds for which this thread has run, which no other process lengthens. Wall time where there is no such clock. */
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

/** What work took at a quarter of its items and at all of them. Milliseconds of this thread. */
export interface Growth {
  quarter: number;
  whole: number;
}

/** Sixteen would be quadratic. For each doubling it is less than 2.5. */
const MAX_GROWTH = 2.5 ** 2;
/** Below this, what the runtime does besides is a large part of a time. */
const MIN_MS = 4;
const MAX_TRIES = 6;

/** What work took that grows much faster than its items, each time that it was tried; else null. */
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
