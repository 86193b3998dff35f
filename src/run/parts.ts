import { availableParallelism, hostname } from "node:os";
import { join } from "node:path";
import { bootstrap, type BootstrapResult } from "../admin/bootstrap.ts";
import type { RunningGateway, WaitingCall } from "../admin/context.ts";
import { readStatus } from "../admin/status/status.ts";
import type { Settings } from "../config/index.ts";
import { openConsole } from "../console/index.ts";
import { databaseOf } from "./stores.ts";
import { type Degradations, gauges, type StatusSources, watchDegradations } from "./status.ts";
import type { RequestEvent, RequestListener } from "../domain/request-event.ts";
import { traceSampler } from "../domain/trace.ts";
import type { Failover } from "../gateway/routing/failover.ts";
import type { Health } from "../gateway/routing/health.ts";
import { createCodecSlots } from "../imaging/codec.ts";
import { requestCancel } from "../jobs/cancel.ts";
import { systemClock } from "../lib/clock.ts";
import { inBatches } from "../lib/waiting.ts";
import { newId } from "../lib/ids.ts";
import { readS3Address } from "../lib/s3-address.ts";
import { createSafeFetch } from "../lib/safe-fetch.ts";
import { VERSION } from "../lib/version.ts";
import { hashSecret, secretTest } from "../lib/secret.ts";
import { sweepSpool } from "../lib/spool.ts";
import { LiveSettings, type LoadConfiguration, openConfiguration } from "./reload.ts";
import { LiveMetrics, type LiveSources } from "./live-metrics.ts";
import {
  openAlerts,
  openLedgerExport,
  type OpenedAlerts,
  type Recording,
  startRecording,
} from "./background.ts";
import { openCore, type OpenedJobs, openJobs, type ProcessBasis } from "./core.ts";
import { ConnectionLimit, Overload, type ServerOptions, UndeclaredProxy } from "../server/index.ts";
import { type Blobs, openBlobs } from "../storage/blobs/index.ts";
import type { SupervisorLink } from "../storage/counters/limit-messages.ts";
import { openStorage, type Storage, type StorageOptions } from "../storage/index.ts";
import { CallMetrics } from "../telemetry/call-metrics.ts";
import { JobMetrics } from "../telemetry/job-metrics.ts";
import { requestLog, systemLog, type SystemLog } from "../telemetry/log.ts";
import { openLogOutput } from "../telemetry/log-output.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { RuntimeMetrics } from "../telemetry/runtime-metrics.ts";
import { gatherMetrics } from "../telemetry/process-metrics.ts";
import { OtlpExporter } from "../telemetry/otlp/exporter.ts";
import { PromptRecorder, RequestRecorder } from "../telemetry/request-recorder.ts";
import { TrafficCounters } from "../telemetry/traffic-counters.ts";

interface ProcessParts {
  supervisor: SupervisorLink | null;
  load: LoadConfiguration;
}

/** Opens all parts of a process except its server: storage, core, jobs and observers. */
export async function openParts(settings: Settings, { supervisor, load }: ProcessParts) {
  const logOutput = openLogOutput();
  const log = requestLog(logOutput.write, settings.logLevel);
  const onProblem = systemLog(logOutput.write, settings.logLevel);
  const processId = newId("proc");
  const live = new LiveSettings(settings);
  const calls = new CallMetrics();
  const storage = await openStorageOf(settings, processId, { onProblem, onCall: calls.databaseCall });
  const bootstrapped = await bootstrapStore(settings, storage);
  const blobs = await openBlobsOf(settings, storage, onProblem);
  const codecSlots = createCodecSlots(availableParallelism());
  const safeFetch = createSafeFetch({ denied: settings.server.deniedNetworks });
  const spoolDirectory = await openSpoolDirectory(settings);
  const basis = { live, storage, safeFetch, processId, onProblem, calls };
  const opened = await openCore(basis, { supervisor, codecSlots });
  const { core, health, counters } = opened;
  const overload = await openOverload(settings, onProblem);
  const connections = connectionLimitOf(settings, onProblem);
  const undeclaredProxy = new UndeclaredProxy(settings.server.trustedProxies, onProblem);
  const watched = { live, storage, blobs, health, counters, overload, connections, undeclaredProxy };
  const { concurrency } = core.failover;
  const ledgerExport = openLedgerExport(basis);
  const observing = observe(basis, log, { ...watched, logOutput, concurrency, ledgerExport });
  const { jobMetrics, metrics, onEnd, recording, degradations, liveMetrics, otlp } = observing;
  const imageCore = { ...core, blobs: blobs.store, links: blobs.links, codecSlots };
  const beginTrace = settings.telemetry && traceSampler(settings.telemetry.sampleRatio);
  const jobs = openJobs(basis, { core: imageCore, metrics: jobMetrics, onEnd, beginTrace });
  const alerts = openAlerts(basis, health, (organizationId) => administration.status(organizationId));
  const background = { alerts, degradations, recording, liveMetrics, otlp, ledgerExport };
  const administered = { ...watched, calls: core.failover.calls, jobs: jobs.port, ...background };
  const administration = administrationOf(load, administered);
  const forServer: ServerOptions = {
    spoolDirectory,
    safeFetch,
    isShared: settings.workers > 1,
    server: settings.server,
    isWellFormed: secretTest(settings.bootstrap.key),
    hash: hashSecret,
    core,
    blobs,
    jobs: jobs.port,
    ...administration,
    console: openConsole((error) => onProblem("the console could not be bundled", error)),
    identity: settings.identity,
    outcomes: storage.outcomes,
    codecSlots,
    overload,
    connections,
    undeclaredProxy,
    onProblem,
    onEnd,
    beginTrace,
    metrics: gatherMetrics(metrics, settings),
  };
  return { basis, log, bootstrapped, blobs, opened, overload, jobs, background, forServer };
}

interface RequestObserver {
  listener: RequestListener;
}

type ObservedSources = StatusSources & Pick<LiveSources, "concurrency">;

/**
 * Makes the observers of requests: log, metrics, records for administration and, if configured, the export of
 * telemetry.
 */
function observe(basis: ProcessBasis, log: RequestObserver, observed: ObservedSources) {
  const jobMetrics = new JobMetrics();
  const traffic = new TrafficCounters();
  const recorder = new RequestRecorder(
    () => basis.live.current.requests,
    () => systemClock.monotonic(),
  );
  const prompts = new PromptRecorder();
  const live = new LiveMetrics(observed);
  const others = [new RuntimeMetrics(), basis.calls, live, jobMetrics, recorder];
  const otlp = openOtlp(basis);
  const channels = () => basis.storage.snapshot.directory().channels.keys();
  const metrics = new Metrics(gauges(observed), otlp ? [...others, otlp] : others, channels);
  const observers: RequestObserver[] = [log, metrics, traffic, recorder, prompts];
  if (otlp) observers.push(otlp);
  // One observer gets all events before the next observer, so that its code is in the processor's cache.
  const onEnd = inBatches<RequestEvent>((events) => {
    for (const { listener } of observers) for (const event of events) listener(event);
  });
  const degradations = watchDegradations(observed, () => systemClock.now());
  const recording = startRecording(basis, { traffic, recorder, prompts });
  return { jobMetrics, metrics, onEnd, recording, degradations, liveMetrics: live.start(), otlp };
}

/** Opens the export of traces, metrics and events; null when no collector is configured. */
function openOtlp({ live, processId, onProblem }: ProcessBasis): OtlpExporter | null {
  const { telemetry } = live.current;
  if (!telemetry) return null;
  const providerOf = (channel: string) => live.current.channels.get(channel)?.provider;
  return new OtlpExporter({ ...telemetry, instance: processId, version: VERSION, providerOf, onProblem });
}

async function openOverload(settings: Settings, onProblem: SystemLog): Promise<Overload> {
  const { overload, workers, dataDirectory } = settings;
  const onChange = (message: string, level: "info" | "warn"): void => onProblem(message, null, level);
  const opened = new Overload({ settings: overload, workers, dataDirectory, onChange });
  await opened.readDisk();
  return opened;
}

function connectionLimitOf({ server }: Settings, onProblem: SystemLog): ConnectionLimit {
  return new ConnectionLimit({
    perAddress: server.connectionsPerAddress,
    trustedProxies: server.trustedProxies,
    onClosed: (message) => onProblem(message, null),
  });
}

/** Returns the folder of spooled bodies. Deletes the files that ended processes have left there. */
async function openSpoolDirectory({ dataDirectory }: Settings): Promise<string> {
  const directory = join(dataDirectory, "spool");
  await sweepSpool(directory);
  return directory;
}

function openStorageOf(
  settings: Settings,
  processId: string,
  reports: Pick<StorageOptions, "onProblem" | "onCall">,
): Promise<Storage> {
  return openStorage({
    ...databaseOf(settings),
    journals: join(settings.dataDirectory, "journal"),
    processId,
    configured: settings,
    ...reports,
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

/** The parts that administration over HTTP shows and changes. */
interface AdministeredParts {
  live: LiveSettings;
  alerts: OpenedAlerts;
  storage: Storage;
  blobs: Blobs;
  health: Health;
  calls: Failover["calls"];
  jobs: OpenedJobs["port"];
  degradations: Degradations;
  recording: Pick<Recording, "writeCounts">;
}

function administrationOf(load: LoadConfiguration, parts: AdministeredParts) {
  const { live, storage } = parts;
  const admin: ServerOptions["admin"] = {
    store: storage.admin,
    clock: systemClock,
    get catalogue() {
      return live.current;
    },
    running: runningGateway(parts),
    configuration: openConfiguration(load, () => storage.snapshot.refresh()),
  };
  return {
    admin,
    status: (organizationId: string | null = null) =>
      readStatus({ ...admin, by: { actor: "status" } }, organizationId ?? undefined),
    unready: () => (storage.damage() === null ? null : `the database is damaged: ${storage.damage()}`),
  };
}

const DAY_MS = 24 * 60 * 60_000;

function runningGateway(parts: AdministeredParts): RunningGateway {
  const { live, health, calls, jobs, blobs, degradations, recording, alerts } = parts;
  return {
    writeCounts: () => recording.writeCounts(),
    degradations: () => degradations.now(),
    linkTo: (name) => blobs.links.sign(live.current.server.publicUrl ?? "", name),
    picturesKeptMs: () => live.current.blobs.retentionDays * DAY_MS,
    ejections: () => health.ejections(),
    waitingCalls: () => waitingCalls(calls),
    testMail: alerts.testMail,
    cancelJob: (organizationId, id) => requestCancel({ ...jobs, blobs: blobs.store }, organizationId, id),
  };
}

function waitingCalls(calls: Failover["calls"]): WaitingCall[] {
  const now = systemClock.monotonic();
  return [...calls].flatMap(({ waiting }) => {
    if (!waiting) return [];
    const { since, ...call } = waiting;
    return [{ ...call, waitedMs: now - since }];
  });
}
