/**
 * Returns a table's own value for a name from outside, or undefined. A plain look-up of names such as `constructor`
 * and `__proto__` would find inherited members.
 */
export function ownValue<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
