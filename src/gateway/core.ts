import type { Clock } from "../lib/clock.ts";
import type { SafeFetch } from "../lib/safe-fetch.ts";
import type { TokenCounter } from "../lib/token-counter/index.ts";
import type { LimitSettings, Limiter } from "./admission/limits.ts";
import type { Billing, OrphanCosts } from "./metering/billing.ts";
import type { Snapshot } from "./snapshot.ts";
import type { Upstreams } from "./upstreams.ts";
import type { DetachedCalls } from "./routing/call.ts";
import type { Failover } from "./routing/failover.ts";
import type { Timeouts } from "../domain/channel.ts";

/** The parts that all pipelines share. A process opens the parts once. */
export interface Core {
  snapshot: Snapshot;
  upstreams: Upstreams;
  limiter: Limiter;
  limits: LimitSettings;
  billing: Pick<Billing, "hold" | "settle" | "checkpoint" | "release">;
  orphanCosts: OrphanCosts;
  failover: Failover;
  detachedCalls: DetachedCalls;
  /** Fetches links of callers. */
  safeFetch: Pick<SafeFetch, "download">;
  tokenCounter: Pick<TokenCounter, "count" | "close">;
  clock: Clock;
  /** Default timeouts of each pipeline. A channel may have timeouts of its own. */
  timeouts: { text: Timeouts; image: Omit<Timeouts, "idleMs"> };
  /**
   * Time without content after which the response of a stream begins anyway. After that time, keep-alive frames are
   * sent at the same interval until the first content.
   */
  firstByteMs: number;
  /** Returns a random number from 0 up to 1. */
  random(): number;
}
