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

/** Times of the work with an eighth and with all of its items, in milliseconds of this thread. */
export interface Growth {
  eighth: number;
  whole: number;
}

/** Number of times that all items are as many as the items of the shorter measurement. */
export const GROWN_ITEMS = 8;
/**
 * Allowed growth of the time for eight times the items. Linear growth is 8 and quadratic growth is 64. Linear work was
 * measured at 1.6 times its growth while other tests used the processor and its caches.
 */
export const MAX_GROWTH = 20;
/** Minimum running time to judge growth, because other work of the runtime distorts shorter times. */
const MIN_MS = 4;
const MAX_TRIES = 12;
/** From this try on, each try waits: a garbage collection or a compilation may last longer than all tries before. */
const FIRST_WAITING_TRY = 3;
const WAIT_MS = 10;

/**
 * Measures work several times. Returns the shortest times if all items take too long in comparison with an eighth.
 * Returns null as soon as the shortest times are too short to judge, or those of two tries or more are in proportion.
 */
export function growsTooFast(work: (count: number) => void, most: number): Growth | null {
  let least: Growth = { eighth: Infinity, whole: Infinity };
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    if (tries >= FIRST_WAITING_TRY) Bun.sleepSync(tries * WAIT_MS);
    const eighth = timeOf(() => work(Math.floor(most / GROWN_ITEMS)));
    const whole = timeOf(() => work(most));
    least = { eighth: Math.min(least.eighth, eighth), whole: Math.min(least.whole, whole) };
    if (least.whole < MIN_MS) return null;
    // The first try is slow, because the runtime has not compiled the code yet.
    if (tries > 0 && least.whole < MAX_GROWTH * least.eighth) return null;
  }
  return least;
}

function timeOf(work: () => void): number {
  const start = threadTime();
  work();
  return threadTime() - start;
}
