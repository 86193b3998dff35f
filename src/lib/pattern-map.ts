/** True for a pattern such as `openai/*`, which matches every key that begins with `openai/`. */
export function isPattern(key: string): boolean {
  return key.endsWith("*");
}

/**
 * Yields the patterns that could match a key, the longest first. With each pattern, yields the rest of the key after
 * the pattern's beginning.
 */
function* coveringPatterns(key: string): Generator<[pattern: string, rest: string]> {
  for (let length = key.length; length > 0; length -= 1)
    yield [`${key.slice(0, length)}*`, key.slice(length)];
}

/** True when a list of keys and patterns contains `key` or a pattern that matches `key`. */
export function includesKey(keys: ReadonlySet<string>, key: string): boolean {
  return keys.has(key) || coveringPatterns(key).some(([pattern]) => keys.has(pattern));
}

const MAX_KEY_LENGTH = 256;
const MAX_DERIVED = 1_000;

/**
 * Values by key. Some keys are patterns. For a key without a value of its own, `derive` makes a value from the longest
 * matching pattern. The map keeps that value until it has made `MAX_DERIVED` values; then it forgets all derived
 * values. The class does not extend `Map`, because a copy of the entries would lose derived values. `map` makes a
 * changed copy.
 */
export class PatternMap<Value> {
  /** The declared values by key and by pattern. Derived values are not included. */
  readonly declared: ReadonlyMap<string, Value>;
  readonly #derive: Derive<Value>;
  readonly #derived = new Map<string, Value>();
  readonly #hasPatterns: boolean;

  constructor(declared: ReadonlyMap<string, Value> = new Map(), derive: Derive<Value> = (value) => value) {
    this.declared = declared;
    this.#derive = derive;
    this.#hasPatterns = declared.keys().some(isPattern);
  }

  get(key: string): Value | undefined {
    return this.declared.get(key) ?? (this.#hasPatterns ? this.#covered(key) : undefined);
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  /** Returns a map with the keys and patterns of this map and changed values. */
  map(change: (value: Value) => Value): PatternMap<Value> {
    const changed = this.declared.entries().map(([key, value]) => [key, change(value)] as const);
    return new PatternMap(new Map(changed), this.#derive);
  }

  #covered(key: string): Value | undefined {
    const known = this.#derived.get(key);
    if (known !== undefined || key.length > MAX_KEY_LENGTH || isPattern(key)) return known;
    for (const [pattern, rest] of coveringPatterns(key)) {
      const value = rest === "" ? undefined : this.declared.get(pattern);
      if (value === undefined) continue;
      const made = this.#derive(value, key, rest);
      if (this.#derived.size >= MAX_DERIVED) this.#derived.clear();
      this.#derived.set(key, made);
      return made;
    }
    return undefined;
  }
}

/** Derives a key's value from a pattern's value. `rest` is the part of the key after the pattern's beginning. */
type Derive<Value> = (value: Value, key: string, rest: string) => Value;
