import type { Clock } from "../lib/clock.ts";
import type { Whole } from "./columns.ts";

/**
 * Decides which expired slices are really orphaned. A living process renews its slices every half minute, so a
 * slice that the store's clock calls expired counts only after it has been seen unchanged for a whole minute of
 * this process's monotonic time: a store's clock that jumps ahead takes nothing from the living.
 */
export interface SliceWatch {
  /** How long before its expiry a slice should be shown here. Milliseconds. */
  readonly headStartMs: number;
  /** Those that are past their expiry and were watched long enough. */
  ripe<T extends WatchedSlice>(candidates: readonly T[]): T[];
}

interface WatchedSlice {
  lease: string;
  budget: string;
  expires_at: Whole;
  now?: Whole;
}

const WATCH_MS = 60_000;

export function sliceWatch(clock: Clock): SliceWatch {
  let seen = new Map<string, number>();
  return {
    headStartMs: WATCH_MS * 2,
    ripe(candidates) {
      const now = clock.monotonic();
      const stillSeen = new Map<string, number>();
      const ripe = candidates.filter((slice) => {
        const name = `${slice.lease} ${slice.budget} ${slice.expires_at}`;
        const since = seen.get(name) ?? now;
        stillSeen.set(name, since);
        return now - since >= WATCH_MS && Number(slice.expires_at) <= Number(slice.now ?? 0);
      });
      seen = stillSeen;
      return ripe;
    },
  };
}
