import { join } from "node:path";
import type { Core } from "../gateway/core.ts";
import type { ImageCore } from "../gateway/images.ts";
import { Billing, OrphanCosts } from "../gateway/metering/billing.ts";
import { BudgetLeases } from "../gateway/metering/budget-leases.ts";
import type { RequestListener } from "../domain/request-event.ts";
import type { BeginTrace } from "../domain/trace.ts";
import { ConcurrencyLimiter, RetryBudget } from "../gateway/routing/call-bounds.ts";
import { DetachedCalls } from "../gateway/routing/call.ts";
import { Health, type TargetChange } from "../gateway/routing/health.ts";
import { eventOfRun, type JobObserver, JobWorker } from "../jobs/worker.ts";
import { sweepJobs } from "../jobs/retention.ts";
import type { JobCore } from "../jobs/submit.ts";
import { startWebhooks, type WebhookOptions } from "../jobs/webhooks.ts";
import { systemClock } from "../lib/clock.ts";
import { DeadlineTimer } from "../lib/deadline-timer.ts";
import type { SafeFetch } from "../lib/safe-fetch.ts";
import type { FairSemaphore } from "../lib/semaphore.ts";
import { createSpool } from "../lib/spool.ts";
import { TokenCounter } from "../lib/token-counter/index.ts";
import { every } from "../lib/waiting.ts";
import { LiveSettings } from "./reload.ts";
import { type OpenedUpstreams, openUpstreams } from "../providers/registry.ts";
import { type LimitCounters, openCounters } from "../storage/counters/index.ts";
import type { SupervisorLink } from "../storage/counters/limit-messages.ts";
import type { Storage } from "../storage/index.ts";
import type { CallMetrics } from "../telemetry/call-metrics.ts";
import type { JobMetrics } from "../telemetry/job-metrics.ts";
import type { SystemLog } from "../telemetry/log.ts";
import { random } from "../lib/random.ts";

/** Maximum delay until the process notices a passed deadline or a client's disconnection. */
export const DEADLINE_TICK_MS = 25;

/** The values that every part of a process needs. */
export interface ProcessBasis {
  live: LiveSettings;
  storage: Storage;
  safeFetch: SafeFetch;
  processId: string;
  onProblem: SystemLog;
  calls: CallMetrics;
}

interface CoreParts {
  supervisor: SupervisorLink | null;
  codecSlots: FairSemaphore;
}

interface OpenedCore {
  core: Core;
  upstreams: OpenedUpstreams;
  leases: BudgetLeases;
  health: Health;
  counters: LimitCounters;
}

/** Opens the core with its adapters. Workers share limits through their supervisor, or all processes through Redis. */
export async function openCore(
  { live, storage, safeFetch, processId, onProblem, calls }: ProcessBasis,
  { supervisor, codecSlots }: CoreParts,
): Promise<OpenedCore> {
  const clock = systemClock;
  const settings = live.current;
  const upstreams = openUpstreams(settings.channels.values(), codecSlots);
  const leases = new BudgetLeases(storage.leases, processId, clock);
  storage.snapshot.onBudgetsChanged((budgets) => {
    leases
      .revalidate(budgets)
      .catch((error: unknown) => onProblem("leases of changed budgets were not given back", error));
  });
  const health = new Health(clock, (ejection) => counters.announce(ejection), changeReport(onProblem));
  const counters = await openCounters({
    redisUrl: settings.redisUrl,
    supervisor,
    workers: settings.workers,
    processes: () => Math.max(settings.workers, storage.processes()),
    clock,
    onEjection: (ejection) => health.apply(ejection),
    onProblem,
    onCall: calls.redisCall,
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
    firstByteMs: settings.server.firstByteMs,
    random,
  };
  return { core, upstreams, leases, health, counters };
}

/** Logs a line for each change of a target's state. */
function changeReport(onProblem: SystemLog): (change: TargetChange) => void {
  return ({ target, organization, reason, isUp, lastedMs }) => {
    const of = organization === null ? "" : ` for organization ${organization}`;
    if (isUp) {
      const after = `after ${Math.round(lastedMs / 1000)} s`;
      onProblem(`the target ${target} is in service again${of} ${after}`, null, "info");
    } else onProblem(`the target ${target} is out of service${of}: ${reason}`, null);
  };
}

interface JobParts {
  core: ImageCore;
  metrics: JobMetrics;
  onEnd: RequestListener;
  beginTrace: BeginTrace | null;
}

/** The functions for jobs that requests and administration use. */
type JobPort = Omit<JobCore, keyof ImageCore>;

/** The jobs of this process, and the worker that runs them. */
export interface OpenedJobs {
  port: JobPort;
  /** Claims no more jobs. Jobs that still run after `graceMs` are handed over to other processes. */
  stop(graceMs: number): Promise<void>;
}

const SWEEP_MS = 15_000;
const QUEUES_MS = 5_000;

/** Starts the removal of old jobs, the metric of queues and, if this process runs jobs, its worker and the webhooks. */
export function openJobs(basis: ProcessBasis, parts: JobParts): OpenedJobs {
  const { live, storage, onProblem } = basis;
  const { core, metrics } = parts;
  const { jobs } = storage;
  const { concurrency } = live.current.jobs;
  const worker = concurrency === 0 ? null : openWorker(basis, parts, concurrency);
  worker?.start();
  const background = [
    ...(worker === null ? [] : [startWebhooks(webhookOptions(basis, core))]),
    every(
      SWEEP_MS,
      () => sweepJobs(storage, core.blobs, live.current.blobs.retentionDays),
      (error) => onProblem("old jobs were not removed", error),
    ),
    every(
      QUEUES_MS,
      async () => metrics.setQueues(await jobs.queues()),
      () => {},
    ),
  ];
  return {
    port: {
      jobs,
      webhooks: storage.webhooks,
      deadlineMs: () => live.current.jobs.deadlineMs,
      wake: () => worker?.wake(),
      stopJob: (id) => worker?.cancel(id),
    },
    async stop(graceMs) {
      for (const work of background) void work.stop();
      await worker?.stop(graceMs);
    },
  };
}

function webhookOptions(
  { live, storage, safeFetch, onProblem, calls }: ProcessBasis,
  core: ImageCore,
): WebhookOptions {
  return {
    queue: calls.webhooks(storage.webhooks),
    safeFetch,
    networks: () => live.current.allowedNetworks,
    links: core.links,
    publicUrl: live.current.server.publicUrl,
    linkHoursOf: (id) => core.snapshot.directory().organizations.get(id)?.settings.linkHours ?? null,
    now: () => core.clock.now(),
    onProblem,
  };
}

function openWorker(
  { live, storage, processId, onProblem }: ProcessBasis,
  { core, metrics, onEnd, beginTrace }: JobParts,
  concurrency: number,
): JobWorker {
  const directory = join(live.current.dataDirectory, "spool");
  const observer: JobObserver = {
    pickedUp: (milliseconds) => metrics.pickedUp(milliseconds),
    ended(run) {
      metrics.ended(run.ending);
      onEnd(eventOfRun(run));
    },
  };
  // After its drain time, the server aborts the calls in `calls`. Calls of jobs must not be in `calls`, because jobs
  // are handed over instead.
  const failover = { ...core.failover, calls: new Set<never>() };
  return new JobWorker({
    core: { ...core, failover, jobs: storage.jobs },
    worker: processId,
    concurrency,
    createSpool: () => createSpool(directory),
    observer,
    beginTrace,
    onProblem,
  });
}
