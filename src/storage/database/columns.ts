/**
 * Writes a composite value for a TEXT column: JSON in which amounts of money are decimal strings. What is read back was
 * written here, so its shape is trusted.
 */
export function toColumn(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => (typeof part === "bigint" ? part.toString() : part));
}

/** A nullable composite. */
export function toNullableColumn(value: unknown): string | null {
  return value === null || value === undefined ? null : toColumn(value);
}

/** Booleans are 0 and 1 in both databases. */
export function toBit(value: boolean): number {
  return value ? 1 : 0;
}

/** A whole number that is not money, as read from either database. */
export type Integer = bigint | number;

/** `change` without its undefined fields. */
export function definedFields<T extends object>(change: T): Partial<T> {
  const copy: Partial<T> = { ...change };
  for (const name in copy) if (copy[name] === undefined) delete copy[name];
  return copy;
}

/** The first row of a result, or null. */
export function firstOf<T>(rows: readonly T[]): T | null {
  return rows[0] ?? null;
}
