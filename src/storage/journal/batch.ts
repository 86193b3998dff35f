import { RecordLines } from "./record-line.ts";

/** Charges that are posted together, as their lines: the garbage collector has nothing to do with bytes. */
export class Batch extends RecordLines {
  /** How many are of each segment. */
  readonly segments = new Map<number, number>();

  countIn(segment: number): void {
    this.segments.set(segment, (this.segments.get(segment) ?? 0) + 1);
  }
}
