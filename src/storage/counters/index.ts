import type { Limiter } from "../../gateway/admission/limits.ts";
import { MemoryLimiter } from "../../gateway/admission/memory-limiter.ts";
import type { Ejection } from "../../gateway/routing/health.ts";
import type { Clock } from "../../lib/clock.ts";
import { RedisLimiter } from "./redis-limiter.ts";
import { SharedHealth } from "./shared-health.ts";

/** What processes count and find out together; alone where there is no shared store. */
export interface Counters {
  limiter: Limiter;
  /** Tells the other processes of an ejected target. */
  announce(ejection: Ejection): void;
  /** True while limits are kept by this process alone although a shared store is configured. */
  isDegraded(): boolean;
  close(): void;
}

export interface CountersOptions {
  /** Null keeps everything in this process, limits divided by the number of processes. */
  redisUrl: string | null;
  processes: number;
  clock: Clock;
  onEjection(ejection: Ejection): void;
  /** Hears once when the store is lost, with the reason, and once when it is back. */
  onProblem(message: string, cause: unknown): void;
}

/** The runtime does not tell a wrong password from a server that is not there. */
const AWAY =
  "Redis is away, so each process keeps to its share of the limits; check REDIS_URL, its password, and that Redis runs";

/** Opens the counters; a store that is away now is used as soon as it is there. */
export async function openCounters(options: CountersOptions): Promise<Counters> {
  const { redisUrl, processes, clock, onEjection, onProblem } = options;
  if (redisUrl === null) {
    return {
      limiter: new MemoryLimiter({ clock, share: processes }),
      announce() {},
      isDegraded: () => false,
      close() {},
    };
  }
  let isDegraded = false;
  const onDegraded = (value: boolean, cause: unknown): void => {
    if (value) onProblem(AWAY, cause);
    else if (isDegraded) onProblem("Redis is back: limits are counted together again", null);
    isDegraded = value;
  };
  const limiter = new RedisLimiter({ url: redisUrl, processes, clock, onDegraded });
  const health = new SharedHealth({ url: redisUrl, onEjection });
  await Promise.all([limiter.ready, health.ready]);
  return {
    limiter,
    announce: (ejection) => health.announce(ejection),
    isDegraded: () => isDegraded,
    close() {
      limiter.close();
      health.close();
    },
  };
}
