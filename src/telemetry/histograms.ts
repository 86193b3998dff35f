import { escaped, type Sample } from "./counters.ts";

/** Upper bounds of the buckets, in seconds. */
const BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

interface Histogram {
  buckets: number[];
  sum: number;
  count: number;
}

/** Durations by the values of one label, or in total when the label has no name. */
export class Histograms {
  readonly #histograms = new Map<string, Histogram>();
  readonly #name: string | null;

  constructor(name: string | null) {
    this.#name = name;
  }

  observe(value: string, seconds: number): void {
    let found = this.#histograms.get(value);
    if (!found) {
      found = { buckets: BUCKETS.map(() => 0), sum: 0, count: 0 };
      this.#histograms.set(value, found);
    }
    let bucket = 0;
    while (seconds > (BUCKETS[bucket] ?? Infinity)) bucket += 1;
    if (bucket < BUCKETS.length) found.buckets[bucket] = (found.buckets[bucket] ?? 0) + 1;
    found.sum += seconds;
    found.count += 1;
  }

  samples(): Sample[] {
    return [...this.#histograms].flatMap(([value, { buckets, sum, count }]) => {
      const own = this.#name === null ? "" : `${this.#name}="${escaped(value)}"`;
      const within = (bound: string): string => `${own}${own && ","}le="${bound}"`;
      let total = 0;
      const bounded = BUCKETS.map((bound, index): Sample => {
        total += buckets[index] ?? 0;
        return ["_bucket", within(String(bound)), total];
      });
      bounded.push(["_bucket", within("+Inf"), count], ["_sum", own, sum], ["_count", own, count]);
      return bounded;
    });
  }
}
