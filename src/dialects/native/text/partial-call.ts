import { isObject } from "../../../lib/json.ts";

const MAX_DEPTH = 64;
const STEP = /^(?:\.([^.[\]]+)|\[(\d{1,5})\]|\[(?:'([^']*)'|"([^"]*)")\])/;
const FORBIDDEN: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** A call whose arguments come as values at JSON paths, strings in pieces (Vertex AI reference, `PartialArg`). */
export class PartialCall {
  readonly args: Record<string, unknown> = {};

  constructor(readonly call: number) {}

  add(partialArgs: unknown): void {
    if (!Array.isArray(partialArgs)) return;
    for (const each of partialArgs) if (isObject(each)) this.#addOne(each);
  }

  #addOne({ jsonPath, stringValue, numberValue, boolValue, nullValue }: Record<string, unknown>): void {
    const steps = typeof jsonPath === "string" ? stepsOf(jsonPath) : null;
    const value = nullValue === undefined ? (stringValue ?? numberValue ?? boolValue) : null;
    if (!steps || value === undefined) return;
    let owner: Record<string | number, unknown> = this.args;
    for (const [index, step] of steps.entries()) {
      // Items come in their order: one far behind the last would make a list of nothing but gaps.
      if (Array.isArray(owner) && Number(step) > owner.length) return;
      const next = steps[index + 1];
      if (next === undefined) {
        const before = owner[step];
        // Later pieces of a string go on where it ended.
        owner[step] = typeof before === "string" && typeof value === "string" ? before + value : value;
        return;
      }
      const inner = owner[step];
      const isOwner = typeof inner === "object" && inner !== null;
      owner = isOwner
        ? (inner as typeof owner)
        : ((owner[step] = typeof next === "number" ? [] : {}) as typeof owner);
    }
  }
}

/** The steps of `$.list[0].name`; null for a path that is none. */
function stepsOf(path: string): (string | number)[] | null {
  const steps: (string | number)[] = [];
  let rest = path.startsWith("$") ? path.slice(1) : `.${path}`;
  while (rest !== "") {
    const [matched, name, index, single, double] = STEP.exec(rest) ?? [];
    const step = index === undefined ? (name ?? single ?? double) : Number(index);
    if (matched === undefined || step === undefined || steps.length >= MAX_DEPTH) return null;
    if (FORBIDDEN.has(String(step))) return null;
    steps.push(step);
    rest = rest.slice(matched.length);
  }
  return steps.length > 0 ? steps : null;
}
