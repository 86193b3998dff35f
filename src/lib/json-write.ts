/** JSON text that is written as it is, inside of a value that is written by `writeJson`. */
export class RawJson {
  constructor(readonly text: string) {}
}

/** In the runtime, not yet in its types (ECMAScript, "JSON.parse source text access"). */
const { isRawJSON } = JSON as unknown as { isRawJSON(value: unknown): boolean };

/**
 * The same text as `JSON.stringify`, except that a `RawJson` anywhere in the value is written as it is: big numbers,
 * escapes and the order of members survive.
 */
export function writeJson(value: unknown): string {
  if (value instanceof RawJson) return value.text;
  if (Array.isArray(value)) return `[${value.map((item) => writeJson(item ?? null)).join(",")}]`;
  if (typeof value !== "object" || value === null || isRawJSON(value)) return JSON.stringify(value);
  const members: string[] = [];
  for (const [name, member] of Object.entries(value))
    if (member !== undefined) members.push(`${JSON.stringify(name)}:${writeJson(member)}`);
  return `{${members.join(",")}}`;
}
