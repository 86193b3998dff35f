/** Suffix of the family's name, labels without braces, and value. */
export type Sample = readonly [suffix: string, labels: string, value: number];

/** Most label sets of one metric; what comes beyond counts under `other`. */
const MAX_SERIES = 2_000;

/** Counts by the value of the next label; the last label's values have the counts themselves. */
type Branch = Map<string, Branch | Count>;

interface Count {
  value: number;
}

/** A counter by the values of its labels. */
export class Counters {
  /** One level for each label: the request path looks up strings that exist and builds none. */
  readonly #root: Branch = new Map();
  readonly #names: readonly string[];
  #series = 0;

  constructor(names: readonly string[]) {
    this.#names = names;
  }

  add(values: readonly string[], by = 1): void {
    let node: Branch | Count | undefined = this.#root;
    for (const value of values) node = node instanceof Map ? node.get(value) : undefined;
    if (!node || node instanceof Map) this.#addNew(values, by);
    else node.value += by;
  }

  samples(): Sample[] {
    return [...samplesOf(this.#root, this.#names)];
  }

  #addNew(values: readonly string[], by: number): void {
    const isFull = this.#series >= MAX_SERIES;
    const own = isFull ? this.#names.map(() => "other") : values;
    let branch = this.#root;
    for (const value of own.slice(0, -1)) {
      const known = branch.get(value);
      const next: Branch = known instanceof Map ? known : new Map();
      branch.set(value, next);
      branch = next;
    }
    const last = own.at(-1) ?? "";
    const count = branch.get(last);
    if (count && !(count instanceof Map)) count.value += by;
    else {
      branch.set(last, { value: by });
      this.#series += 1;
    }
  }
}

function* samplesOf(
  branch: Branch,
  names: readonly string[],
  labels: readonly string[] = [],
): Generator<Sample> {
  for (const [value, node] of branch) {
    const own = [...labels, `${names[labels.length]}="${escaped(value)}"`];
    if (node instanceof Map) yield* samplesOf(node, names, own);
    else yield ["", own.join(","), node.value];
  }
}

/** Backslash, quote and line feed of a label's value are escaped (exposition format). */
export function escaped(value: string): string {
  return value.replace(/[\\"\n]/g, (character) => (character === "\n" ? "\\n" : `\\${character}`));
}
