import { join } from "node:path";
import { bootstrap, type BootstrapResult } from "./admin/bootstrap.ts";
import type { Settings } from "./config/index.ts";
import type { Core } from "./gateway/core.ts";
import { BudgetLeases } from "./gateway/metering/budget-leases.ts";
import { Billing } from "./gateway/metering/billing.ts";
import { DetachedCalls } from "./gateway/routing/detached-calls.ts";
import { Health } from "./gateway/routing/health.ts";
import { ConcurrencyLimiter } from "./gateway/routing/concurrency-limiter.ts";
import { RetryBudget } from "./gateway/routing/retry-budget.ts";
import { systemClock } from "./lib/clock.ts";
import { DeadlineTimer } from "./lib/deadline-timer.ts";
import { newId } from "./lib/ids.ts";
import { readS3Address } from "./lib/s3-address.ts";
import { createSafeFetch } from "./lib/safe-fetch.ts";
import { createSemaphore } from "./lib/semaphore.ts";
import { sweepSpool } from "./lib/spool.ts";
import { hashSecret, secretTest } from "./lib/secret.ts";
import { openUpstreams } from "./providers/registry.ts";
import { startServer } from "./server/index.ts";
import { openStorage } from "./storage/index.ts";
import { openBlobs } from "./storage/blobs/index.ts";
import { openCounters } from "./storage/counters/index.ts";
import { databaseOf } from "./database.ts";
import { requestLog, systemLog } from "./telemetry/log.ts";
import { Metrics } from "./telemetry/metrics.ts";
import { gatherMetrics } from "./telemetry/process-metrics.ts";

/** A running gateway. */
export interface Gateway {
  /** Address it listens on, without a trailing slash. */
  url: string;
  /** What the first start made, to be shown once. */
  bootstrap: BootstrapResult;
  /** Refuses new requests, lets running ones finish within the drain time, and leaves nothing behind. */
  stop(): Promise<void>;
  /** Leaves at once; what is not settled is settled by the next start. */
  abandon(): Promise<void>;
}

/** Pictures worked on at once; each may take four bytes a pixel. */
const CODEC_SLOTS = 4;
/** How late a deadline or a hang-up may be noticed. */
const DEADLINE_TICK_MS = 25;
const LEASE_RENEWAL_MS = 30_000;
const LEASE_YIELD_MS = 250;
const SWEEP_MS = 10 * 60_000;
const FLUSH_MS = 5_000;

const write = (lines: string): void => void process.stdout.write(lines);

/** Joins settings, adapters, heart and doors into a gateway that answers. */
export async function startGateway(settings: Settings): Promise<Gateway> {
  const clock = systemClock;
  const log = requestLog(write);
  const report = systemLog(write);
  const processId = newId("proc");
  const { models, channels, routes, prices } = settings;
  const storage = await openStorage({
    ...databaseOf(settings),
    journals: join(settings.dataDirectory, "journal"),
    processId,
    configured: {
      models,
      channels,
      routes,
      prices: new Map([...prices].map(([id, price]) => [id, [price]])),
    },
    onProblem: report,
  });
  const by = { actor: "bootstrap" };
  const bootstrapped = await bootstrap(
    { store: storage.admin, by, clock, catalogue: settings },
    settings.bootstrap,
  );
  await storage.snapshot.refresh();
  const blobs = await openBlobs({
    ...settings.blobs,
    directory: settings.dataDirectory,
    linkSecrets: storage.linkSecrets,
    ...(settings.blobUrl !== null && { s3: readS3Address(settings.blobUrl) }),
  });
  const spoolDirectory = join(settings.dataDirectory, "spool");
  await sweepSpool(spoolDirectory);
  const leases = new BudgetLeases(storage.leases, processId, clock);
  const health = new Health(clock, (ejection) => counters.announce(ejection));
  const counters = await openCounters({
    redisUrl: settings.redisUrl,
    processes: settings.workers,
    clock,
    onEjection: (ejection) => health.apply(ejection),
    onProblem: report,
  });
  const state = { isDraining: false };
  const core: Core = {
    snapshot: storage.snapshot,
    upstreams: openUpstreams(channels.values()),
    limiter: counters.limiter,
    limits: settings.limits,
    billing: new Billing(leases, storage.journal),
    failover: {
      clock,
      deadlineTimer: new DeadlineTimer(DEADLINE_TICK_MS),
      health,
      concurrency: new ConcurrencyLimiter(),
      retryBudget: new RetryBudget(clock, settings.routing.retryRatio, settings.routing.retryFloor),
      maxAttempts: settings.routing.maxAttempts,
    },
    detachedCalls: new DetachedCalls(),
    clock,
    timeouts: settings.timeouts,
    random: Math.random,
  };
  const metrics = new Metrics([
    {
      name: "gateway_ledger_backlog",
      help: "Charges journaled and not yet in the ledger.",
      value: storage.backlog,
    },
    {
      name: "gateway_ejected_targets",
      help: "Targets out of service.",
      value: () => health.ejections().length,
    },
    {
      name: "gateway_limits_degraded",
      help: "1 while limits are local although a shared store is configured.",
      value: () => Number(counters.isDegraded()),
    },
    {
      name: "gateway_snapshot_age_seconds",
      help: "Time since the database was last heard.",
      value: () => storage.snapshot.ageMs() / 1000,
    },
  ]);
  const server = startServer({
    core,
    blobs,
    codecSlots: createSemaphore(CODEC_SLOTS),
    safeFetch: createSafeFetch(),
    spoolDirectory,
    isShared: settings.workers > 1,
    server: settings.server,
    isWellFormed: secretTest(settings.bootstrap.key),
    hash: hashSecret,
    listeners: [log.listener, metrics.listener],
    metrics: gatherMetrics(metrics, settings),
    isDraining: () => state.isDraining,
  });
  const sweep = (): void =>
    void blobs.sweep().catch((error: unknown) => report("old images were not removed", error));
  sweep();
  const chores = [
    setInterval(sweep, SWEEP_MS),
    setInterval(
      () => void leases.renew().catch((error: unknown) => report("leases were not renewed", error)),
      LEASE_RENEWAL_MS,
    ),
    setInterval(
      () =>
        void leases.yieldContended().catch((error: unknown) => report("leases were not given back", error)),
      LEASE_YIELD_MS,
    ),
  ];
  /** Every caller was cut off; their calls notice within a tick, and what was delivered is journaled. */
  const endCalls = async (): Promise<void> => {
    await Bun.sleep(2 * DEADLINE_TICK_MS);
    await core.detachedCalls.close();
  };
  const close = async (): Promise<void> => {
    for (const chore of chores) clearInterval(chore);
    await leases.giveBack().catch((error: unknown) => report("leases were not given back", error));
    await storage.close(FLUSH_MS);
    await blobs.close();
    counters.close();
    log.flush();
  };
  return {
    url: server.url,
    bootstrap: bootstrapped,
    async stop() {
      state.isDraining = true;
      const endsAt = performance.now() + settings.server.drainSeconds * 1000;
      await server.drain(endsAt - performance.now());
      await core.detachedCalls.settled(endsAt - performance.now());
      await endCalls();
      await close();
    },
    async abandon() {
      server.abandon();
      await endCalls();
      await storage.journal.sync();
      log.flush();
    },
  };
}
