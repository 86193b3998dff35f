import type { Clock } from "../lib/clock.ts";
import type { LimitSettings, Limiter } from "./admission/limits.ts";
import type { Till } from "./metering/till.ts";
import type { Snapshot, Upstreams } from "./ports.ts";
import type { Drains } from "./routing/drains.ts";
import type { Failover } from "./routing/failover.ts";
import type { Deadlines } from "../domain/channel.ts";

/** What the two rooms share: made once, by `app.ts`. */
export interface Heart {
  snapshot: Snapshot;
  upstreams: Upstreams;
  limiter: Limiter;
  limits: LimitSettings;
  till: Till;
  failover: Failover;
  drains: Drains;
  clock: Clock;
  /** Default deadlines of each route family; a channel may have its own. */
  deadlines: { text: Deadlines; image: Omit<Deadlines, "idleMs"> };
  /** Random numbers from 0 up to 1. */
  draw(): number;
}
