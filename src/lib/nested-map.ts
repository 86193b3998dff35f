/**
 * A map whose keys are lists of strings. It has one level of maps for each string of a key. An access costs a fraction
 * of joining the strings, because strings that stay in memory keep their hash. All keys of a map have the same length.
 */
export class NestedMap<Value> {
  readonly #root: Level<Value> = new Map();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(keys: readonly string[]): Value | undefined {
    let node: Level<Value> | Leaf<Value> | undefined = this.#root;
    for (const key of keys) node = node instanceof Map ? node.get(key) : undefined;
    return node instanceof Map ? undefined : node?.value;
  }

  set(keys: readonly string[], value: Value): void {
    let level = this.#root;
    for (const key of keys.slice(0, -1)) {
      const known = level.get(key);
      const next: Level<Value> = known instanceof Map ? known : new Map();
      level.set(key, next);
      level = next;
    }
    const last = keys.at(-1) ?? "";
    if (!level.has(last)) this.#size += 1;
    level.set(last, { value });
  }

  entries(): Generator<[keys: string[], value: Value]> {
    return entriesOf(this.#root, []);
  }
}

type Level<Value> = Map<string, Level<Value> | Leaf<Value>>;

interface Leaf<Value> {
  readonly value: Value;
}

function* entriesOf<Value>(
  level: Level<Value>,
  before: readonly string[],
): Generator<[keys: string[], value: Value]> {
  for (const [key, node] of level) {
    const keys = [...before, key];
    if (node instanceof Map) yield* entriesOf(node, keys);
    else yield [keys, node.value];
  }
}
