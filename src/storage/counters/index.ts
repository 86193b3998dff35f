import type { Limiter } from "../../gateway/admission/limits.ts";
import { MemoryLimiter } from "../../gateway/admission/memory-limiter.ts";
import type { Ejection } from "../../gateway/routing/health.ts";
import type { Clock } from "../../lib/clock.ts";
import { outageReport, type StorageReport } from "../report.ts";
import { RedisLimiter } from "./redis-limiter.ts";
import type { SupervisorLink } from "./limit-messages.ts";
import { SharedHealth } from "./shared-health.ts";
import { WorkerLimiter } from "./worker-limiter.ts";

/** The limits and the health of targets that processes share. */
export interface LimitCounters {
  limiter: Limiter;
  /** Publishes an ejection to the other processes that share the store. */
  announce(ejection: Ejection): void;
  /** True while this process uses only its share of the limits, because the shared store is unavailable. */
  isDegraded(): boolean;
  close(): void;
}

interface CountersOptions {
  /** Address of the store in which all machines count together; null when each machine counts for itself. */
  redisUrl: string | null;
  /**
   * Connection to the supervisor, which counts the limits of this machine's workers when there is no store; null in a
   * process without other workers.
   */
  supervisor: SupervisorLink | null;
  /** Number of workers of this machine. Limits are divided among the workers while the supervisor is unavailable. */
  workers: number;
  /** Returns the number of processes on all machines, which share the limits while the store is unavailable. */
  processes(): number;
  clock: Clock;
  onEjection(ejection: Ejection): void;
  /** Called once when the store is lost, with the reason, and once when it is back. */
  onProblem: StorageReport;
  /** Called after each counting call to the store with its duration in seconds. */
  onCall?: (seconds: number) => void;
}

/**
 * The message about the loss lists all causes, because the runtime reports a wrong password and an unreachable server
 * as the same error.
 */
const REDIS = {
  lost: "Redis is away, so each process keeps to its share of the limits; check REDIS_URL, its password, and that Redis runs",
  available: "Redis is back: limits are counted together again",
};

/** Opens the counters. A store that is unavailable now is used as soon as it is available. */
export async function openCounters(options: CountersOptions): Promise<LimitCounters> {
  const { redisUrl, supervisor, workers, processes, clock, onEjection, onProblem, onCall } = options;
  if (redisUrl === null) {
    const shared = supervisor && new WorkerLimiter({ link: supervisor, workers, clock });
    return {
      limiter: shared ?? new MemoryLimiter({ clock }),
      announce() {},
      isDegraded: () => false,
      close: () => shared?.close(),
    };
  }
  const outage = outageReport(REDIS, onProblem);
  const onDegraded = (isDegraded: boolean, cause: unknown): void => {
    if (isDegraded) outage.lost(cause);
    else outage.available();
  };
  const limiter = new RedisLimiter({ url: redisUrl, processes, clock, onDegraded, onCall });
  const health = new SharedHealth({ url: redisUrl, onEjection });
  await Promise.all([limiter.ready, health.ready]);
  return {
    limiter,
    announce: (ejection) => health.announce(ejection),
    isDegraded: () => outage.isLost,
    close() {
      limiter.close();
      health.close();
    },
  };
}
