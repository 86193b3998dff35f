import { NestedMap } from "../lib/nested-map.ts";

/** The suffix of the metric's name, the labels without braces, and the value. */
export type Sample = readonly [suffix: string, labels: string, value: number];

/**
 * Maximum number of series of one metric that have the same number of folded labels. In further series, another label
 * gets the value `other`.
 */
const MAX_SERIES = 2_000;

/** The same maximum for a histogram. It is lower than `MAX_SERIES`, because a series has a sample per bucket. */
export const MAX_HISTOGRAMS = 300;

/** Time after which a series without changes may be removed for another series. */
const IDLE_MS = 24 * 3_600_000;

/** Minimum time between two searches for idle series. */
const SWEEP_MS = 60_000;

/** The value of a folded label, which no longer has its own value. */
const OTHER = "other";

interface Series<Value> {
  readonly value: Value;
  /** Number of the series' labels that have the value `other`. */
  readonly folds: number;
  /** Time of the last change, in Unix milliseconds. */
  usedAt: number;
}

/**
 * The values of one metric by its labels, limited in number. At the limit, a new series is folded: its first foldable
 * label gets the value `other`. If there are too many folded series, its second foldable label also gets this value,
 * and so on. Labels that are not foldable must have a closed set of values.
 */
export class BoundedSeries<Value> {
  #series = new NestedMap<Series<Value>>();
  /** The number of series for each number of folded labels. */
  #sizes: number[] = [];
  #folded = 0;
  #sweptAt = -Infinity;
  readonly #names: readonly string[];
  readonly #foldable: readonly string[];
  readonly #max: number;
  readonly #make: () => Value;

  constructor(names: readonly string[], foldable: readonly string[], max: number, make: () => Value) {
    this.#names = names;
    this.#foldable = foldable;
    this.#max = max;
    this.#make = make;
  }

  /** Number of changes to folded series. */
  get folded(): number {
    return this.#folded;
  }

  /** Returns the value of the series with these label values. Creates a missing series. */
  open(values: readonly string[], at: number): Value {
    const series = this.#series.get(values) ?? this.#openNew(values, at);
    series.usedAt = at;
    return series.value;
  }

  /** Yields the labels of each series without braces, and its value. */
  *entries(): Generator<[labels: string, value: Value]> {
    for (const [values, value] of this.byValues()) yield [labelsOf(this.#names, values), value];
  }

  /** Yields the label values of each series, and its value. */
  *byValues(): Generator<[values: readonly string[], value: Value]> {
    for (const [values, { value }] of this.#series.entries()) yield [values, value];
  }

  #openNew(values: readonly string[], at: number): Series<Value> {
    if (this.#foldable.length > 0 && this.#isFull(0)) this.#dropIdle(at);
    let folds = 0;
    let own = values;
    let known: Series<Value> | undefined;
    while (!known && folds < this.#foldable.length && this.#isFull(folds)) {
      folds += 1;
      own = this.#fold(values, folds);
      known = this.#series.get(own);
    }
    if (folds > 0) this.#folded += 1;
    return known ?? this.#add(own, { value: this.#make(), folds, usedAt: at });
  }

  #add(values: readonly string[], series: Series<Value>): Series<Value> {
    this.#series.set(values, series);
    this.#sizes[series.folds] = (this.#sizes[series.folds] ?? 0) + 1;
    return series;
  }

  #isFull(folds: number): boolean {
    return (this.#sizes[folds] ?? 0) >= this.#max;
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

/** A counter with a value for each combination of label values. */
export class Counters {
  readonly #series: BoundedSeries<{ total: number }>;

  constructor(names: readonly string[], foldable: readonly string[] = []) {
    this.#series = new BoundedSeries(names, foldable, MAX_SERIES, () => ({ total: 0 }));
  }

  /** Number of additions to folded series. */
  get folded(): number {
    return this.#series.folded;
  }

  /** Adds `by` to a series. With foldable labels, `at` (Unix milliseconds) tells when a series is idle. */
  add(values: readonly string[], by = 1, at = 0): void {
    this.#series.open(values, at).total += by;
  }

  samples(): Sample[] {
    return Array.from(this.#series.entries(), ([labels, { total }]): Sample => ["", labels, total]);
  }
}

/** Returns labels without braces. Escapes backslash, quote and line feed in their values (exposition format). */
export function labelsOf(names: readonly string[], values: readonly string[]): string {
  return names.map((name, index) => `${name}="${escaped(values[index] ?? "")}"`).join(",");
}

function escaped(value: string): string {
  return value.replace(/[\\"\n]/g, (character) => (character === "\n" ? "\\n" : `\\${character}`));
}

/** Upper bounds of the histogram buckets for requests, in seconds. */
const BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

/** Upper bounds of the histogram buckets for calls to a store, in seconds. */
export const STORE_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

/** Counts observations in buckets. */
export class Histogram {
  readonly bounds: readonly number[];
  /** Number of observations for each bound, and a last number for observations above all bounds. */
  readonly buckets: Float64Array;
  sum = 0;
  count = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.buckets = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    let bucket = 0;
    while (value > (this.bounds[bucket] ?? Infinity)) bucket += 1;
    this.buckets[bucket] = (this.buckets[bucket] ?? 0) + 1;
    this.sum += value;
    this.count += 1;
  }
}

/** The label values of the only series of a metric without labels. */
export const TOTAL: readonly string[] = [""];

/** Histograms of durations, one for each combination of label values. */
export class Histograms {
  readonly #series: BoundedSeries<Histogram>;

  constructor(names: readonly string[], foldable: readonly string[] = [], bounds = BUCKETS) {
    this.#series = new BoundedSeries(names, foldable, MAX_HISTOGRAMS, () => new Histogram(bounds));
  }

  /** Number of observations in folded series. */
  get folded(): number {
    return this.#series.folded;
  }

  /** Adds an observation to the series with these label values. `Counters.add` describes `at`. */
  observe(values: readonly string[], seconds: number, at = 0): void {
    this.#series.open(values, at).observe(seconds);
  }

  samples(): Sample[] {
    return [...this.#series.entries()].flatMap(([own, { bounds, buckets, sum, count }]) => {
      const within = (bound: string): string => `${own}${own && ","}le="${bound}"`;
      let total = 0;
      const bounded = bounds.map((bound, index): Sample => {
        total += buckets[index] ?? 0;
        return ["_bucket", within(String(bound)), total];
      });
      bounded.push(["_bucket", within("+Inf"), count], ["_sum", own, sum], ["_count", own, count]);
      return bounded;
    });
  }
}
