import type { BootstrapResult } from "../admin/bootstrap.ts";
import type { Settings } from "../config/index.ts";
import type { GatewayError } from "../domain/gateway-error.ts";
import type { Core } from "../gateway/core.ts";
import { DependencyError } from "../gateway/dependency-error.ts";
import type { BudgetLeases } from "../gateway/metering/budget-leases.ts";
import { VERSION } from "../lib/version.ts";
import { type BackgroundWork, after, every, nextTurn, sleep, withDeadline } from "../lib/waiting.ts";
import { type Overload, type RunningServer, startOperatorServer, startServer } from "../server/index.ts";
import type { Blobs } from "../storage/blobs/index.ts";
import type { SupervisorLink } from "../storage/counters/limit-messages.ts";
import type { Storage } from "../storage/index.ts";
import type { SystemLog } from "../telemetry/log.ts";
import type { StoredEntry } from "../admin/configuration/store-port.ts";
import { DEADLINE_TICK_MS } from "./core.ts";
import { openParts } from "./parts.ts";
import type { LoadConfiguration } from "./reload.ts";

export interface Gateway {
  /** The address on which the gateway listens, without a slash at the end. */
  url: string;
  /** The key and the password that the first start has created. Both are shown only once. */
  bootstrap: BootstrapResult;
  /** Refuses new requests, lets running requests finish within the drain time, and releases all resources. */
  stop(): Promise<void>;
  /** Returns the channels and models of the database: the last known values while the database is unavailable. */
  storedEntries(): Promise<readonly StoredEntry[]>;
  /** Sets a listener that is called and awaited after every change of the stored channels and models. */
  onConfigurationChanged(listener: () => Promise<void>): void;
  /** Applies new settings, as far as they can be reloaded: models, channels, routes, prices, limits and timeouts. */
  reconfigure(settings: Settings): void;
  /** Records for the metrics whether the newest configuration is in force. */
  recordReload(isOk: boolean): void;
  /** Writes a line of the gateway's log. */
  log: SystemLog;
  /** Aborts all calls, so that the process can exit. The next start posts the charges that are not posted yet. */
  abandon(): Promise<void>;
}

const LEASE_RENEWAL_MS = 30_000;
const LEASE_YIELD_MS = 250;
const SWEEP_MS = 10 * 60_000;
const OUTCOMES_MS = 60_000;
const FLUSH_MS = 5_000;

/**
 * Starts a gateway. With the role `gateway` it serves requests; with the role `worker` it runs jobs and serves only
 * probes and metrics.
 */
export async function startGateway(
  settings: Settings,
  supervisor: SupervisorLink | null,
  load: LoadConfiguration,
  role: "gateway" | "worker" = "gateway",
): Promise<Gateway> {
  const parts = await openParts(settings, { supervisor, load });
  const { log, blobs, opened, overload } = parts;
  const { live, storage, processId, onProblem } = parts.basis;
  const { core, upstreams, leases, health, counters } = opened;
  const { alerts, degradations, recording, liveMetrics, otlp, ledgerExport } = parts.background;
  const server = role === "worker" ? startOperatorServer(parts.forServer) : startServer(parts.forServer);
  const background = startBackgroundWork({ storage, blobs, leases, overload, onProblem });
  const where = role === "worker" ? "job worker" : server.url;
  onProblem(`the gateway has started: version ${VERSION}, ${where}, ${processId}`, null, "info");
  return {
    url: server.url,
    bootstrap: parts.bootstrapped,
    log: onProblem,
    storedEntries: lastKnown(() => storage.admin.configuration.list()),
    onConfigurationChanged: (listener) => storage.snapshot.onConfigurationChanged(listener),
    reconfigure(next) {
      upstreams.open(next.channels.values());
      health.forgetChannels(changedChannels(live.current, next));
      storage.snapshot.reconfigure(next);
      live.current = next;
    },
    recordReload(isOk) {
      live.isNewest = isOk;
    },
    async stop() {
      onProblem("the gateway is stopping: it drains", null, "info");
      const { drainSeconds, leaveSeconds } = settings.server;
      const jobsStopped = parts.jobs.stop((leaveSeconds + drainSeconds) * 1000);
      await drain(settings, server, core);
      await jobsStopped.then(nextTurn);
      // The stop does not wait for these tasks, because a task may wait for a database that does not respond.
      for (const work of [...background, alerts, degradations, liveMetrics]) void work.stop();
      await leases.giveBack().catch((error: unknown) => onProblem("leases were not given back", error));
      await otlp?.stop();
      const last = Promise.all([recording.stop(), ledgerExport?.stop()]);
      await withDeadline(FLUSH_MS, last, () => new Error("too late")).catch(() => {});
      await storage.close(FLUSH_MS);
      await blobs.close();
      counters.close();
      onProblem("the gateway has stopped", null, "info");
      log.flush();
    },
    async abandon() {
      core.detachedCalls.refuse();
      core.tokenCounter.close();
      await server.abandon((error) => {
        for (const call of core.failover.calls) call.abort(error);
      });
      await endCalls(core);
      await storage.journal.sync();
      log.flush();
    },
  };
}

/** Returns a function that reads a value, and returns the last value, if any, while the database is unavailable. */
function lastKnown<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let known: { value: Value } | null = null;
  return async () => {
    try {
      known = { value: await read() };
    } catch (error) {
      if (!(error instanceof DependencyError) || known === null) throw error;
    }
    return known.value;
  };
}

function changedChannels({ channels }: Settings, next: Settings): string[] {
  return [...channels].filter(([id, channel]) => next.channels.get(id) !== channel).map(([id]) => id);
}

/**
 * Time for counting the delivered tokens of cut streams while the server waits for their end. After this time, the
 * tokens are estimated.
 */
const COUNT_MS = 1_500;

/** Lets running requests and detached calls finish within the drain time. Then ends all that still run. */
async function drain({ server: times }: Settings, server: RunningServer, core: Core): Promise<void> {
  const endsAt = performance.now() + (times.leaveSeconds + times.drainSeconds) * 1000;
  const onCut = (error: GatewayError | null): void => {
    core.detachedCalls.refuse();
    if (!error) return;
    for (const call of core.failover.calls) call.abort(error);
    after(COUNT_MS, () => core.tokenCounter.close());
  };
  await server.stop(times.leaveSeconds * 1000, times.drainSeconds * 1000, onCut);
  core.tokenCounter.close();
  await core.detachedCalls.ended(endsAt - performance.now());
  await endCalls(core);
}

interface BackgroundParts {
  storage: Pick<Storage, "outcomes">;
  blobs: Blobs;
  leases: BudgetLeases;
  overload: Overload;
  onProblem: SystemLog;
}

function startBackgroundWork(parts: BackgroundParts): BackgroundWork[] {
  const { storage, blobs, leases, overload, onProblem } = parts;
  const sweep = async (): Promise<void> => void (await blobs.sweep());
  void sweep().catch((error: unknown) => onProblem("old images were not removed", error));
  return [
    overload.start((error) => onProblem("overload was not measured", error)),
    every(SWEEP_MS, sweep, (error) => onProblem("old images were not removed", error)),
    every(
      OUTCOMES_MS,
      () => storage.outcomes.sweep((name) => blobs.store.remove(name)),
      (error) => onProblem("old outcomes were not removed", error),
    ),
    every(
      LEASE_RENEWAL_MS,
      () => leases.renew(),
      (error) => onProblem("leases were not renewed", error),
    ),
    every(
      LEASE_YIELD_MS,
      () => leases.yieldContended(),
      (error) => onProblem("leases were not given back", error),
    ),
  ];
}

/**
 * Ends the calls that still run after every client was disconnected. Calls notice the disconnection within a tick and
 * write the delivered usage to the journal; detached calls are ended. One turn of the event loop later, the observers
 * have the records of all requests.
 */
async function endCalls({ detachedCalls }: Core): Promise<void> {
  await sleep(2 * DEADLINE_TICK_MS);
  await detachedCalls.close();
  await nextTurn();
}
