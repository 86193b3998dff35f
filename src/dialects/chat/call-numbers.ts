/** What tells one call of a stream from another. */
interface CallMark {
  /** Empty where the delta has none. */
  id: string;
  name: string;
}

/**
 * Numbers the calls of a choice in the order of their appearance. Servers differ: parallel calls may all have index 0
 * and differ in their id (vLLM), or have no index and come whole (xAI, Google); names and ids may be repeated in
 * every delta.
 */
export class CallNumbers {
  /** Ids by number; empty where there is none. */
  readonly #ids: string[] = [];
  /** The last call of each index. */
  readonly #byIndex = new Map<number, number>();
  readonly #reported = new Set<string>();

  /** The number of the call that a delta belongs to; from 0, without gaps. */
  of({ id, name }: CallMark, index: unknown): number {
    const last = typeof index === "number" ? this.#byIndex.get(index) : this.#ids.length - 1;
    if (last === undefined || last < 0) return this.#open(id, index);
    const known = this.#ids[last] ?? "";
    // Without an index nothing but a name tells that a call begins.
    const isOther = name !== "" && (id === "" ? typeof index !== "number" : known !== "" && id !== known);
    if (isOther) return this.#open(id, index);
    this.#ids[last] ||= id;
    return last;
  }

  /** Whether a call has its id, its name or its type for the first time. */
  isNews(number: number, member: keyof CallMark | "type", value: string): boolean {
    const key = `${member} ${number}`;
    if (value === "" || this.#reported.has(key)) return false;
    this.#reported.add(key);
    return true;
  }

  #open(id: string, index: unknown): number {
    const number = this.#ids.push(id) - 1;
    if (typeof index === "number") this.#byIndex.set(index, number);
    return number;
  }
}
