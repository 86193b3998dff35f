import { NestedMap } from "../lib/nested-map.ts";

/** Suffix of the family's name, labels without braces, and value. */
export type Sample = readonly [suffix: string, labels: string, value: number];

/** Most label sets of one metric; what comes beyond counts under `other`. */
const MAX_SERIES = 2_000;

/** A counter by the values of its labels. */
export class Counters {
  readonly #counts = new NestedMap<{ value: number }>();
  readonly #names: readonly string[];

  constructor(names: readonly string[]) {
    this.#names = names;
  }

  add(values: readonly string[], by = 1): void {
    const count = this.#counts.get(values);
    if (count) count.value += by;
    else this.#addNew(values, by);
  }

  samples(): Sample[] {
    return Array.from(this.#counts.entries(), ([values, { value }]): Sample => {
      const labels = this.#names.map((name, index) => `${name}="${escaped(values[index] ?? "")}"`);
      return ["", labels.join(","), value];
    });
  }

  #addNew(values: readonly string[], by: number): void {
    const own = this.#counts.size < MAX_SERIES ? values : this.#names.map(() => "other");
    const value = (this.#counts.get(own)?.value ?? 0) + by;
    this.#counts.set(own, { value });
  }
}

/** Backslash, quote and line feed of a label's value are escaped (exposition format). */
export function escaped(value: string): string {
  return value.replace(/[\\"\n]/g, (character) => (character === "\n" ? "\\n" : `\\${character}`));
}
