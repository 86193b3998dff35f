/** Whether a key names every key with its beginning: `openai/*`. */
export function isPattern(key: string): boolean {
  return key.endsWith("*");
}

/** The patterns that could cover a key, the longest first, and the rest of the key behind each. */
function* coveringPatterns(key: string): Generator<[pattern: string, rest: string]> {
  for (let length = key.length; length > 0; length -= 1)
    yield [`${key.slice(0, length)}*`, key.slice(length)];
}

/** Whether a list of keys and patterns names a key. */
export function includesKey(keys: ReadonlySet<string>, key: string): boolean {
  return keys.has(key) || coveringPatterns(key).some(([pattern]) => keys.has(pattern));
}

const MAX_KEY_LENGTH = 256;
const MAX_DERIVED = 1_000;

/**
 * Values by key, in which some keys are patterns. A key without a value of its own gets what `derive` makes of the
 * longest pattern that covers it; the same object again, while it is in use. It is no `Map`, as a copy of its entries
 * would lose what patterns cover: `map` makes a changed one.
 */
export class PatternMap<Value> {
  /** What was declared, by key and by pattern; what patterns cover is not among it. */
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

  /** The same keys and patterns with changed values. */
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

/** Makes the value of a key from that of a pattern; `rest` is the key behind the pattern's beginning. */
type Derive<Value> = (value: Value, key: string, rest: string) => Value;
