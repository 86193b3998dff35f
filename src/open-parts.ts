import { availableParallelism, hostname } from "node:os";
import { join } from "node:path";
import { bootstrap, type BootstrapResult } from "./admin/bootstrap.ts";
import type { Settings } from "./config/index.ts";
import { openConsole } from "./console/index.ts";
import { createCodecSlots } from "./imaging/codec-slots.ts";
import { systemClock } from "./lib/clock.ts";
import { newId } from "./lib/ids.ts";
import { readS3Address } from "./lib/s3-address.ts";
import { createSafeFetch } from "./lib/safe-fetch.ts";
import { sweepSpool } from "./lib/spool.ts";
import { hashSecret, secretTest } from "./lib/secret.ts";
import { ConnectionLimit, Overload, UndeclaredProxy, type ServerOptions } from "./server/index.ts";
import { openStorage, type Storage } from "./storage/index.ts";
import { openBlobs, type Blobs } from "./storage/blobs/index.ts";
import type { SupervisorLink } from "./storage/counters/limit-messages.ts";
import { databaseOf } from "./database.ts";
import { watchDegradations } from "./degradations.ts";
import { gauges, type GaugeSources } from "./gauges.ts";
import { LiveSettings } from "./live-settings.ts";
import { openAdministration } from "./open-administration.ts";
import type { LoadConfiguration } from "./open-configuration.ts";
import { openCore } from "./open-core.ts";
import { openAlerts } from "./open-alerts.ts";
import { openJobs } from "./open-jobs.ts";
import { JobMetrics } from "./telemetry/job-metrics.ts";
import { startRecording } from "./record-usage.ts";
import { requestLog, systemLog, type SystemLog } from "./telemetry/log.ts";
import { Metrics } from "./telemetry/metrics.ts";
import { PromptRecorder } from "./telemetry/prompt-recorder.ts";
import { RequestRecorder } from "./telemetry/request-recorder.ts";
import { TrafficCounters } from "./telemetry/traffic-counters.ts";
import { gatherMetrics } from "./telemetry/process-metrics.ts";

const write = (lines: string): void => void process.stdout.write(lines);

interface ProcessParts {
  supervisor: SupervisorLink | null;
  load: LoadConfiguration;
}

/** Opens everything a process has besides its server: storage, core, jobs and what observes them. */
export async function openParts(settings: Settings, { supervisor, load }: ProcessParts) {
  const log = requestLog(write, settings.logLevel);
  const onProblem = systemLog(write, settings.logLevel);
  const processId = newId("proc");
  const storage = await openStorageOf(settings, processId, onProblem);
  const bootstrapped = await bootstrapStore(settings, storage);
  const blobs = await openBlobsOf(settings, storage, onProblem);
  const codecSlots = createCodecSlots(availableParallelism());
  const live = new LiveSettings(settings);
  const address = await serverSettings(settings);
  const { safeFetch } = address;
  const coreParts = { storage, codecSlots, safeFetch, processId, onProblem };
  const opened = await openCore(live, supervisor, coreParts);
  const { core, health, counters } = opened;
  const overload = openOverload(settings, onProblem);
  const connections = connectionLimitOf(settings, onProblem);
  const undeclaredProxy = new UndeclaredProxy(settings.server.trustedProxies, onProblem);
  const own = { restarts: settings.restarts, unusableChannels: () => live.current.unusableChannels };
  const observed = { ...own, storage, blobs, health, counters, overload, connections, undeclaredProxy };
  const observers = openObservers(observed, live, onProblem);
  const { metrics, jobMetrics, recording } = observers;
  const listeners = [log.listener, ...observers.observing];
  const imageCore = { ...core, blobs: blobs.store, links: blobs.links, codecSlots };
  const forJobs = { live, storage, core: imageCore, safeFetch, processId, listeners, onProblem };
  const jobs = openJobs({ ...forJobs, metrics: jobMetrics });
  const alerts = openAlerts(live, { storage, health, processId, onProblem });
  const forServer: ServerOptions = {
    ...address,
    core,
    blobs,
    jobs: jobs.forServer,
    admin: openAdministration(live, load, { ...observed, ...observers, alerts, jobs: jobs.forServer }),
    console: openConsole((error) => onProblem("the console could not be bundled", error)),
    identity: settings.identity,
    outcomes: storage.outcomes,
    codecSlots,
    overload,
    connections,
    unready: () => (storage.damage() === null ? null : `the database is damaged: ${storage.damage()}`),
    undeclaredProxy,
    onProblem,
    listeners,
    metrics: gatherMetrics(metrics, settings),
  };
  return {
    log,
    onProblem,
    processId,
    storage,
    bootstrapped,
    blobs,
    live,
    opened,
    overload,
    jobs,
    recording,
    alerts,
    forServer,
  };
}

/** What follows requests: metrics, and what is written of them for administration. */
function openObservers(observed: GaugeSources, live: LiveSettings, onProblem: SystemLog) {
  const jobMetrics = new JobMetrics();
  const traffic = new TrafficCounters();
  const recorder = new RequestRecorder(
    () => live.current.requests,
    () => systemClock.monotonic(),
  );
  const prompts = new PromptRecorder();
  const metrics = new Metrics(gauges(observed), [jobMetrics, recorder]);
  const degradations = watchDegradations(observed, () => systemClock.now());
  const writing = startRecording({
    store: observed.storage.admin,
    traffic,
    recorder,
    prompts,
    live,
    onProblem,
  });
  return {
    jobMetrics,
    metrics,
    degradations,
    recording: {
      writeCounts: writing.writeCounts,
      stop: async () => void (await Promise.all([degradations.stop(), writing.stop()])),
    },
    observing: [metrics.listener, traffic.listener, recorder.listener, prompts.listener],
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

function openBlobsOf(
  settings: Settings,
  { linkSecrets, snapshot }: Storage,
  onProblem: SystemLog,
): Promise<Blobs> {
  return openBlobs({
    ...settings.blobs,
    linkHoursInUse: () =>
      snapshot
        .directory()
        .organizations.values()
        .map((one) => one.settings.linkHours),
    directory: settings.dataDirectory,
    linkSecrets,
    onProblem,
    ...(settings.blobUrl !== null && { s3: readS3Address(settings.blobUrl) }),
  });
}
