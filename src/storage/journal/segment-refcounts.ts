import type { JournalRecord } from "../../gateway/metering/stores.ts";

/**
 * Counts for each segment of a running journal what it is still needed for: charges that are not in the database yet,
 * and checkpoints of requests that have not ended.
 */
export interface SegmentRefcounts {
  add(record: JournalRecord, segment: number): void;
  /** So many charges of this segment are in the database. */
  posted(segment: number, count: number): void;
  /** True when no segment is needed any more. */
  isSettled(): boolean;
  /** Removes and returns the segments before `current` that are no longer needed and may be deleted. */
  takeSettled(current: number): number[];
}

export function segmentRefcounts(): SegmentRefcounts {
  const needs = new Map<number, number>();
  const checkpoints = new Map<string, number>();
  const add = (segment: number, count: number) => {
    needs.set(segment, (needs.get(segment) ?? 0) + count);
  };
  return {
    add({ type, entry }, segment) {
      const before = checkpoints.get(entry.id);
      if (before !== undefined) add(before, -1);
      add(segment, 1);
      if (type === "checkpoint") checkpoints.set(entry.id, segment);
      else if (before !== undefined) checkpoints.delete(entry.id);
    },
    posted: (segment, count) => add(segment, -count),
    isSettled: () => needs.values().every((count) => count === 0),
    takeSettled(current) {
      const settled = [...needs].filter(([segment, count]) => count === 0 && segment < current);
      for (const [segment] of settled) needs.delete(segment);
      return settled.map(([segment]) => segment);
    },
  };
}
