import { availableParallelism, hostname } from "node:os";
import { join } from "node:path";
import { bootstrap, type BootstrapResult } from "./admin/bootstrap.ts";
import type { Settings } from "./config/index.ts";
import type { GatewayError } from "./domain/gateway-error.ts";
import type { Core } from "./gateway/core.ts";
import { BudgetLeases } from "./gateway/metering/budget-leases.ts";
import { createCodecSlots } from "./imaging/codec-slots.ts";
import { systemClock } from "./lib/clock.ts";
import { newId } from "./lib/ids.ts";
import { readS3Address } from "./lib/s3-address.ts";
import { createSafeFetch } from "./lib/safe-fetch.ts";
import { sweepSpool } from "./lib/spool.ts";
import { hashSecret, secretTest } from "./lib/secret.ts";
import { VERSION } from "./lib/version.ts";
import { every, sleep, type BackgroundWork } from "./lib/waiting.ts";
import { ConnectionLimit, Overload, startServer, type RunningServer } from "./server/index.ts";
import { openStorage, type Storage } from "./storage/index.ts";
import { openBlobs, type Blobs } from "./storage/blobs/index.ts";
import type { SupervisorLink } from "./storage/counters/limit-messages.ts";
import { databaseOf } from "./database.ts";
import { gauges } from "./gauges.ts";
import { LiveSettings } from "./live-settings.ts";
import { requestLog, systemLog, type SystemLog } from "./telemetry/log.ts";
import { Metrics } from "./telemetry/metrics.ts";
import { gatherMetrics } from "./telemetry/process-metrics.ts";
import { DEADLINE_TICK_MS, openCore } from "./open-core.ts";

/** A running gateway. */
export interface Gateway {
  /** Address it listens on, without a trailing slash. */
  url: string;
  /** What the first start made, to be shown once. */
  bootstrap: BootstrapResult;
  /** Refuses new requests, lets running ones finish within the drain time, and gives everything back. */
  stop(): Promise<void>;
  /** Takes over what a running process can of new settings: models, channels, routes, prices, limits and timeouts. */
  reconfigure(settings: Settings): void;
  /** Writes a line of the gateway's log. */
  log: SystemLog;
  /** Exits at once; what is not settled is settled by the next start. */
  abandon(): Promise<void>;
}

const LEASE_RENEWAL_MS = 30_000;
const LEASE_YIELD_MS = 250;
const SWEEP_MS = 10 * 60_000;
const FLUSH_MS = 5_000;

const write = (lines: string): void => void process.stdout.write(lines);

/** Joins settings and adapters into a gateway that serves requests. */
export async function startGateway(settings: Settings, supervisor: SupervisorLink | null): Promise<Gateway> {
  const log = requestLog(write, settings.logLevel);
  const onProblem = systemLog(write, settings.logLevel);
  const processId = newId("proc");
  const storage = await openStorageOf(settings, processId, onProblem);
  const bootstrapped = await bootstrapStore(settings, storage);
  const blobs = await openBlobsOf(settings, storage, onProblem);
  const codecSlots = createCodecSlots(availableParallelism());
  const live = new LiveSettings(settings);
  const parts = { storage, codecSlots, processId, onProblem };
  const { core, upstreams, leases, health, counters } = await openCore(live, supervisor, parts);
  const overload = openOverload(settings, onProblem);
  const connections = connectionLimitOf(settings, onProblem);
  const observed = { restarts: settings.restarts, storage, blobs, health, counters, overload, connections };
  const metrics = new Metrics(gauges(observed));
  const server = startServer({
    ...(await serverSettings(settings)),
    core,
    blobs,
    outcomes: storage.outcomes,
    codecSlots,
    overload,
    connections,
    onProblem,
    listeners: [log.listener, metrics.listener],
    metrics: gatherMetrics(metrics, settings),
  });
  const background = startBackgroundWork({ blobs, leases, overload, onProblem });
  onProblem(`the gateway has started: version ${VERSION}, ${server.url}, ${processId}`, null, "info");
  return {
    url: server.url,
    bootstrap: bootstrapped,
    log: onProblem,
    reconfigure(next) {
      upstreams.open(next.channels.values());
      health.forgetChannels(changedChannels(live.current, next));
      storage.snapshot.reconfigure(next);
      live.current = next;
    },
    async stop() {
      onProblem("the gateway is stopping: it drains", null, "info");
      await drain(settings, server, core);
      // A run under way may wait for a database that does not answer, so it is not waited for.
      for (const work of background) void work.stop();
      await leases.giveBack().catch((error: unknown) => onProblem("leases were not given back", error));
      await storage.close(FLUSH_MS);
      await blobs.close();
      counters.close();
      onProblem("the gateway has stopped", null, "info");
      log.flush();
    },
    async abandon() {
      core.detachedCalls.refuse();
      server.abandon();
      await endCalls(core);
      await storage.journal.sync();
      log.flush();
    },
  };
}

function openOverload({ overload, workers, dataDirectory }: Settings, onProblem: SystemLog): Overload {
  const onChange = (message: string, level: "info" | "warn"): void => onProblem(message, null, level);
  return new Overload({ settings: overload, workers, dataDirectory, onChange });
}

function connectionLimitOf({ server }: Settings, onProblem: SystemLog): ConnectionLimit {
  return new ConnectionLimit({
    perAddress: server.connectionsPerAddress,
    trustedProxies: server.trustedProxies,
    onClosed: (message) => onProblem(message, null),
  });
}

function changedChannels({ channels }: Settings, next: Settings): string[] {
  return [...channels].filter(([id, channel]) => next.channels.get(id) !== channel).map(([id]) => id);
}

/** What the server needs of the settings; clears the spool of earlier processes. */
async function serverSettings(settings: Settings) {
  const spoolDirectory = join(settings.dataDirectory, "spool");
  await sweepSpool(spoolDirectory);
  return {
    spoolDirectory,
    safeFetch: createSafeFetch({ denied: settings.server.deniedNetworks }),
    isShared: settings.workers > 1,
    server: settings.server,
    isWellFormed: secretTest(settings.bootstrap.key),
    hash: hashSecret,
  };
}

/** Lets running requests and detached calls finish within the drain time, then ends them. */
async function drain({ server: times }: Settings, server: RunningServer, core: Core): Promise<void> {
  const endsAt = performance.now() + (times.leaveSeconds + times.drainSeconds) * 1000;
  const onCut = (error: GatewayError | null): void => {
    core.detachedCalls.refuse();
    if (error) for (const call of core.failover.calls) call.abort(error);
  };
  await server.stop(times.leaveSeconds * 1000, times.drainSeconds * 1000, onCut);
  await core.detachedCalls.settled(endsAt - performance.now());
  await endCalls(core);
}

function openStorageOf(settings: Settings, processId: string, onProblem: SystemLog): Promise<Storage> {
  return openStorage({
    ...databaseOf(settings),
    journals: join(settings.dataDirectory, "journal"),
    processId,
    configured: settings,
    onProblem,
  });
}

async function bootstrapStore(settings: Settings, { admin, snapshot }: Storage): Promise<BootstrapResult> {
  const context = {
    store: admin,
    by: { actor: "bootstrap", source: `serve@${hostname()}` },
    clock: systemClock,
    catalogue: settings,
  };
  const result = await bootstrap(context, settings.bootstrap);
  await snapshot.refresh();
  return result;
}

function openBlobsOf(settings: Settings, { linkSecrets }: Storage, onProblem: SystemLog): Promise<Blobs> {
  return openBlobs({
    ...settings.blobs,
    directory: settings.dataDirectory,
    linkSecrets,
    onProblem,
    ...(settings.blobUrl !== null && { s3: readS3Address(settings.blobUrl) }),
  });
}

interface BackgroundParts {
  blobs: Blobs;
  leases: BudgetLeases;
  overload: ReturnType<typeof openOverload>;
  onProblem: SystemLog;
}

function startBackgroundWork({ blobs, leases, overload, onProblem }: BackgroundParts): BackgroundWork[] {
  const sweep = async (): Promise<void> => void (await blobs.sweep());
  void sweep().catch((error: unknown) => onProblem("old images were not removed", error));
  return [
    overload.start((error) => onProblem("overload was not measured", error)),
    every(SWEEP_MS, sweep, (error) => onProblem("old images were not removed", error)),
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

/** Ends what still runs once every client is cut off: calls notice within a tick, and what was delivered is journaled. */
async function endCalls({ detachedCalls }: Core): Promise<void> {
  await sleep(2 * DEADLINE_TICK_MS);
  await detachedCalls.close();
}
