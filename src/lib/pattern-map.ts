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
 * A map in which some keys are patterns. `get` gives a key without a value of its own what `derive` makes of the
 * longest pattern that covers it; the same object again, while it is in use. Patterns are among the entries.
 */
export function patternMap<Value>(
  entries: ReadonlyMap<string, Value>,
  derive: (value: Value, key: string, rest: string) => Value,
): ReadonlyMap<string, Value> {
  if (!entries.keys().some(isPattern)) return entries;
  const derived = new Map<string, Value>();
  const find = (key: string): Value | undefined => {
    const own = entries.get(key) ?? derived.get(key);
    if (own !== undefined || key.length > MAX_KEY_LENGTH || isPattern(key)) return own;
    for (const [pattern, rest] of coveringPatterns(key)) {
      const value = rest === "" ? undefined : entries.get(pattern);
      if (value === undefined) continue;
      const made = derive(value, key, rest);
      if (derived.size >= MAX_DERIVED) derived.clear();
      derived.set(key, made);
      return made;
    }
    return undefined;
  };
  return {
    get: find,
    has: (key) => find(key) !== undefined,
    size: entries.size,
    entries: () => entries.entries(),
    keys: () => entries.keys(),
    values: () => entries.values(),
    forEach: (call, self) => entries.forEach(call, self),
    [Symbol.iterator]: () => entries[Symbol.iterator](),
  };
}
