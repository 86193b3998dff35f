/** A field whose value differs; undefined stands for an absent field. */
export interface Difference {
  /** Such as `limits.runningJobs`; empty for the value as a whole. */
  path: string;
  before: string | undefined;
  after: string | undefined;
}

/** Returns the differences between two values of JSON in the order of their fields. Lists are compared as a whole. */
export function differences(before: unknown, after: unknown): Difference[] {
  const old = new Map(leaves(before, ""));
  const present = new Map(leaves(after, ""));
  return [...new Set([...old.keys(), ...present.keys()])]
    .map((path) => ({ path, before: old.get(path), after: present.get(path) }))
    .filter(({ before, after }) => before !== after);
}

function leaves(value: unknown, path: string): [string, string][] {
  if (value === null || value === undefined) return path === "" ? [] : [[path, "null"]];
  if (typeof value === "number" && isTime(path)) return [[path, new Date(value).toISOString()]];
  if (typeof value !== "object") return [[path, String(value)]];
  if (Array.isArray(value)) return [[path, renderList(value)]];
  const fields = Object.entries(value);
  if (fields.length === 0 && path !== "") return [[path, "{}"]];
  return fields.flatMap(([name, field]) => leaves(field, path === "" ? name : `${path}.${name}`));
}

function renderList(list: readonly unknown[]): string {
  const isPlain = list.every((item) => typeof item !== "object");
  return isPlain ? list.join(", ") : JSON.stringify(list);
}

/** True for the name of a field that holds Unix milliseconds. */
function isTime(path: string): boolean {
  return /(At|From|Until|Start)$/.test(path);
}
