import { saneCount } from "../domain/usage.ts";

/** Reads counts and remembers whether one of them was impossible; absent and null count as not reported. */
export class CountReader {
  isAnomalous = false;

  read(value: unknown): number | null {
    if (value === undefined || value === null) return null;
    const count = saneCount(value);
    if (count === null) this.isAnomalous = true;
    return count;
  }

  /** A count that is part of another one. */
  readPart(value: unknown, max: number): number {
    const count = this.read(value) ?? 0;
    if (count > max) this.isAnomalous = true;
    return Math.min(count, max);
  }

  /** Reads a total that is told beside its parts; one that is not their sum is impossible. */
  checkTotal(value: unknown, ...sums: readonly number[]): void {
    const total = this.read(value);
    if (total !== null && !sums.includes(total)) this.isAnomalous = true;
  }
}
