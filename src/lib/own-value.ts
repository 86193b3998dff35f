/**
 * What a table has under a name that somebody else has chosen; undefined for none. Names such as `constructor` and
 * `__proto__` would otherwise find what every object inherits.
 */
export function ownValue<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
