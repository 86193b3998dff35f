import type { Core } from "./gateway/core.ts";
import { BudgetLeases } from "./gateway/metering/budget-leases.ts";
import { Billing } from "./gateway/metering/billing.ts";
import { OrphanCosts } from "./gateway/metering/orphan-costs.ts";
import { DetachedCalls } from "./gateway/routing/detached-calls.ts";
import { Health } from "./gateway/routing/health.ts";
import { ConcurrencyLimiter } from "./gateway/routing/concurrency-limiter.ts";
import { RetryBudget } from "./gateway/routing/retry-budget.ts";
import { systemClock } from "./lib/clock.ts";
import { DeadlineTimer } from "./lib/deadline-timer.ts";
import type { SafeFetch } from "./lib/safe-fetch.ts";
import { type FairSemaphore } from "./lib/semaphore.ts";
import { TokenCounter } from "./lib/token-counter/index.ts";
import { openUpstreams, type OpenedUpstreams } from "./providers/registry.ts";
import { type Storage } from "./storage/index.ts";
import type { SupervisorLink } from "./storage/counters/limit-messages.ts";
import { openCounters, type Counters } from "./storage/counters/index.ts";
import { LiveSettings } from "./live-settings.ts";
import { type SystemLog } from "./telemetry/log.ts";

/** How late a passed deadline or a client that disconnected may be noticed. */
export const DEADLINE_TICK_MS = 25;

interface CoreParts {
  storage: Storage;
  codecSlots: FairSemaphore;
  safeFetch: SafeFetch;
  processId: string;
  onProblem: SystemLog;
}

interface OpenedCore {
  core: Core;
  upstreams: OpenedUpstreams;
  leases: BudgetLeases;
  health: Health;
  counters: Counters;
}

/** The core over its adapters. Workers share limits through their supervisor, or all processes through Redis. */
export async function openCore(
  live: LiveSettings,
  supervisor: SupervisorLink | null,
  { storage, codecSlots, safeFetch, processId, onProblem }: CoreParts,
): Promise<OpenedCore> {
  const clock = systemClock;
  const settings = live.current;
  const upstreams = openUpstreams(settings.channels.values(), codecSlots);
  const leases = new BudgetLeases(storage.leases, processId, clock);
  storage.snapshot.onBudgetsChanged((budgets) => {
    leases.revalidate(budgets).catch((error: unknown) => onProblem("leases were not given back", error));
  });
  const health = new Health(clock, (ejection) => counters.announce(ejection));
  const counters = await openCounters({
    redisUrl: settings.redisUrl,
    supervisor,
    workers: settings.workers,
    processes: () => Math.max(settings.workers, storage.processes()),
    clock,
    onEjection: (ejection) => health.apply(ejection),
    onProblem,
  });
  const core: Core = {
    snapshot: storage.snapshot,
    upstreams,
    limiter: counters.limiter,
    limits: live.limits,
    billing: new Billing(leases, storage.journal),
    orphanCosts: new OrphanCosts(settings.orphanCostPerKeyHour, clock),
    failover: {
      clock,
      deadlineTimer: new DeadlineTimer(DEADLINE_TICK_MS),
      health,
      concurrency: new ConcurrencyLimiter(),
      calls: new Set(),
      retryBudget: new RetryBudget(clock, settings.routing.retryRatio, settings.routing.retryFloor),
      maxAttempts: settings.routing.maxAttempts,
    },
    detachedCalls: new DetachedCalls(),
    safeFetch,
    tokenCounter: new TokenCounter(),
    clock,
    timeouts: live.timeouts,
    random: Math.random,
  };
  return { core, upstreams, leases, health, counters };
}
