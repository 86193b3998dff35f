import { NestedMap } from "../lib/nested-map.ts";

/** Suffix of the family's name, labels without braces, and value. */
export type Sample = readonly [suffix: string, labels: string, value: number];

/** Most label sets of one metric before any of its labels is folded. */
const MAX_SERIES = 2_000;

/** A series without changes for this long is dropped when another one needs its place. */
const IDLE_MS = 24 * 3_600_000;

/** Shortest time between two searches for idle series. */
const SWEEP_MS = 60_000;

/** The value of a folded label. */
const OTHER = "other";

interface Series {
  value: number;
  /** Number of labels that are folded in it. */
  readonly folds: number;
  /** Time of the last change, Unix milliseconds. */
  usedAt: number;
}

/**
 * A counter by the values of its labels, bounded in its series. When there are too many, new series get `other` as the
 * value of the first foldable label; when there are too many of these, of the second too, and so on. The values of
 * labels that are not foldable must be a closed set.
 */
export class Counters {
  #series = new NestedMap<Series>();
  /** Number of series by the number of their folded labels. */
  #sizes: number[] = [];
  #folded = 0;
  #sweptAt = -Infinity;
  readonly #names: readonly string[];
  readonly #foldable: readonly string[];

  constructor(names: readonly string[], foldable: readonly string[] = []) {
    this.#names = names;
    this.#foldable = foldable;
  }

  /** Number of additions to series with folded labels. */
  get folded(): number {
    return this.#folded;
  }

  /**
   * Adds to the series with these values. The time, in Unix milliseconds, identifies idle series when labels are
   * foldable.
   */
  add(values: readonly string[], by = 1, at = 0): void {
    const series = this.#series.get(values) ?? this.#open(values, at);
    series.value += by;
    series.usedAt = at;
  }

  samples(): Sample[] {
    return Array.from(this.#series.entries(), ([values, { value }]): Sample => {
      const labels = this.#names.map((name, index) => `${name}="${escaped(values[index] ?? "")}"`);
      return ["", labels.join(","), value];
    });
  }

  #open(values: readonly string[], at: number): Series {
    if (this.#foldable.length > 0 && this.#isFull(0)) this.#dropIdle(at);
    let folds = 0;
    let own = values;
    let known: Series | undefined;
    while (!known && folds < this.#foldable.length && this.#isFull(folds)) {
      folds += 1;
      own = this.#fold(values, folds);
      known = this.#series.get(own);
    }
    if (folds > 0) this.#folded += 1;
    return known ?? this.#add(own, { value: 0, folds, usedAt: at });
  }

  #add(values: readonly string[], series: Series): Series {
    this.#series.set(values, series);
    this.#sizes[series.folds] = (this.#sizes[series.folds] ?? 0) + 1;
    return series;
  }

  #isFull(folds: number): boolean {
    return (this.#sizes[folds] ?? 0) >= MAX_SERIES;
  }

  #fold(values: readonly string[], folds: number): string[] {
    const folded = new Set(this.#foldable.slice(0, folds));
    return this.#names.map((name, index) => (folded.has(name) ? OTHER : (values[index] ?? "")));
  }

  #dropIdle(at: number): void {
    if (at - this.#sweptAt < SWEEP_MS) return;
    this.#sweptAt = at;
    const before = this.#series;
    this.#series = new NestedMap();
    this.#sizes = [];
    for (const [values, series] of before.entries())
      if (at - series.usedAt < IDLE_MS) this.#add(values, series);
  }
}

/** Escapes backslash, quote and line feed in a label's value (exposition format). */
export function escaped(value: string): string {
  return value.replace(/[\\"\n]/g, (character) => (character === "\n" ? "\\n" : `\\${character}`));
}

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
