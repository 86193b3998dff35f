import type { Clock } from "../../lib/clock.ts";
import type { Integer } from "../database/columns.ts";

/**
 * Decides which expired slices are really orphaned. A living process renews its slices every half minute, so a
 * slice that the store's clock calls expired counts only after it has been seen unchanged for a whole minute of
 * this process's monotonic time: a store's clock that jumps ahead takes nothing from the living.
 */
export interface LeaseExpiry {
  /** How long before its expiry a slice should be shown here. Milliseconds. */
  readonly headStartMs: number;
  /** Those that are past their expiry and were watched long enough. */
  ripe<T extends WatchedLease>(candidates: readonly T[]): T[];
}

interface WatchedLease {
  /** Id of the process. */
  lease: string;
  budget: string;
  expires_at: Integer;
  now?: Integer;
}

const WATCH_MS = 60_000;

export function leaseExpiry(clock: Clock): LeaseExpiry {
  let seen = new Map<string, number>();
  return {
    headStartMs: WATCH_MS * 2,
    ripe(candidates) {
      const now = clock.monotonic();
      const stillSeen = new Map<string, number>();
      const ripe = candidates.filter((row) => {
        const name = `${row.lease} ${row.budget} ${row.expires_at}`;
        const since = seen.get(name) ?? now;
        stillSeen.set(name, since);
        return now - since >= WATCH_MS && Number(row.expires_at) <= Number(row.now ?? 0);
      });
      seen = stillSeen;
      return ripe;
    },
  };
}
