import { hostname } from "node:os";
import { type BootstrapResult, bootstrap } from "../admin/bootstrap.ts";
import { type LoadedSettings, type Settings, ignoreProxies } from "../config/index.ts";
import { systemClock } from "../lib/clock.ts";
import { lowerHelperThreads } from "../lib/thread-priority.ts";
import { callThroughProxies } from "../providers/transport/http.ts";
import type { StoredEntry } from "../admin/configuration/store-port.ts";
import { type Gateway, startGateway } from "./gateway.ts";
import { type LoadConfiguration, reloadOnChange } from "./reload.ts";
import { makeDataFolder, openAdminStore } from "./stores.ts";
import { onStopSignals, openSupervisorLink, supervise, type WorkerLink } from "./workers.ts";
import { welcome } from "./welcome.ts";
import { sleep } from "../lib/waiting.ts";

/**
 * Serves until a signal or, in a worker, the supervisor stops the process. Resolves after a graceful stop; the process
 * then exits with 0. `load` loads the configuration again.
 */
export async function serve(configured: LoadedSettings, load: LoadConfiguration): Promise<void> {
  const { settings } = configured;
  const startEnded = handleSignalsWhileStarting();
  chooseOutbound(settings);
  if (settings.worker === null) await requireFreePort(settings);
  await makeDataFolder(settings);
  if (settings.workers > 1 && settings.worker === null) {
    process.stderr.write(welcome(addressOf(settings), await bootstrapStore(settings), settings));
    const ended = supervise(settings);
    startEnded();
    return ended;
  }
  const supervisor = settings.worker === null ? null : openSupervisorLink();
  const started = await withStoredEntries(configured, load);
  const { loaded } = started;
  const gateway = await startGateway(loaded.settings, supervisor, load);
  const stopped = untilStopped(gateway, supervisor);
  startEnded();
  lowerHelperThreads();
  const reloading = await startReloading(gateway, started, load);
  supervisor?.sendReady();
  if (settings.worker === null)
    process.stderr.write(welcome(gateway.url, gateway.bootstrap, loaded.settings));
  supervisor?.onReload(() => void reloading.reload());
  await stopped;
  await reloading.stop();
}

/** Runs jobs until a signal stops the process. Serves only probes and metrics. */
export async function runWorker(configured: LoadedSettings, load: LoadConfiguration): Promise<void> {
  const { settings } = configured;
  if (settings.jobs.concurrency === 0)
    throw new Error(
      "jobs.concurrency is 0: set JOBS_CONCURRENCY to how many jobs the worker is to run at once",
    );
  const startEnded = handleSignalsWhileStarting();
  chooseOutbound(settings);
  await makeDataFolder(settings);
  const started = await withStoredEntries(configured, load);
  const gateway = await startGateway(started.loaded.settings, null, load, "worker");
  const stopped = untilStopped(gateway, null);
  startEnded();
  process.stderr.write("Worker started: it runs jobs and serves no requests\n");
  const reloading = await startReloading(gateway, started, load);
  await stopped;
  await reloading.stop();
}

/**
 * Handles signals during the start. A stop signal ends the process at once: without a handler it would have no effect
 * on the first process of a container. SIGHUP is ignored, because it would otherwise end the process; a changed file is
 * noticed once the process serves. Returns a function that removes the handlers of stop signals.
 */
function handleSignalsWhileStarting(): () => void {
  process.on("SIGHUP", () => {});
  const exit = (): void => process.exit(0);
  process.on("SIGTERM", exit).on("SIGINT", exit);
  return () => void process.off("SIGTERM", exit).off("SIGINT", exit);
}

function chooseOutbound({ outbound }: Settings): void {
  if (outbound.proxy === "none") ignoreProxies();
  else callThroughProxies();
}

/** The settings and stored entries with which a process starts. */
interface Started {
  loaded: LoadedSettings;
  stored: readonly StoredEntry[];
}

/** Returns the settings together with the channels and models of the database. */
async function withStoredEntries(configured: LoadedSettings, load: LoadConfiguration): Promise<Started> {
  const { store, close } = await openAdminStore(configured.settings, { mustExist: false });
  try {
    const stored = await store.configuration.list();
    return { loaded: stored.length === 0 ? configured : await load(stored), stored };
  } finally {
    await close();
  }
}

/** Reloads the configuration when its file or the entries of the database change. */
async function startReloading(
  gateway: Gateway,
  { loaded, stored }: Started,
  load: LoadConfiguration,
): Promise<ReturnType<typeof reloadOnChange>> {
  const { log } = gateway;
  for (const { path, message } of loaded.configured.problems) log(`${path} ${message}`, null);
  const reloading = reloadOnChange({
    loaded,
    load: async () => load(await gateway.storedEntries()),
    apply: (next) => gateway.reconfigure(next),
    log,
    onOutcome: (isOk) => gateway.recordReload(isOk),
  });
  gateway.onConfigurationChanged(reloading.reload);
  // The entries may have changed between the read at the start and the adding of the listener.
  if (!Bun.deepEquals(await gateway.storedEntries(), stored)) await reloading.reload();
  return reloading;
}

/** Creates everything that only the first start creates. One process does this for all workers. */
async function bootstrapStore(settings: Settings): Promise<BootstrapResult> {
  const { store, close } = await openAdminStore(settings, { mustExist: false });
  try {
    const by = { actor: "bootstrap", source: `serve@${hostname()}` };
    return await bootstrap({ store, by, clock: systemClock, catalogue: settings }, settings.bootstrap);
  } finally {
    await close();
  }
}

function addressOf({ server: { host, port } }: Settings): string {
  if (port === 0)
    throw new Error("several workers need a port that is known beforehand: set PORT to a number above 0");
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/**
 * Resolves when signals or the supervisor have stopped the gateway. The first signal stops the gateway gracefully, a
 * second signal immediately. No charge is lost in either case.
 */
async function untilStopped(gateway: Gateway, supervisor: WorkerLink | null): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    let stage: "serving" | "draining" | "leaving" = "serving";
    const leave = (): void => {
      if (stage === "leaving") return;
      stage = "leaving";
      void gateway.abandon().finally(() => process.exit(0));
    };
    const stop = (): void => {
      if (stage !== "serving") return;
      stage = "draining";
      // `abandon` closes resources that a graceful stop still uses. A failure of the graceful stop is then ignored.
      gateway.stop().then(resolve, (error: unknown) => stage === "draining" && reject(error));
    };
    // A signal to the process group also reaches the workers. They ignore it: only the supervisor stops workers.
    onStopSignals({ stop, leave, areIgnored: () => supervisor?.isConnected() === true });
    void supervisor?.stopOrdered.then(stop);
    void supervisor?.leaveOrdered.then(leave);
  });
  if (process.connected) process.disconnect?.();
}

/**
 * Time for which a start with several workers waits until the port is free. The workers of a killed supervisor may
 * still be stopping.
 */
const LEAVING_MS = 2_000;
const PAUSE_MS = 50;

/**
 * Throws when a port is not free, before the start creates secrets that are shown only once. Workers share their port
 * (SO_REUSEPORT), and the system would also let another gateway share the port, so this check listens without sharing.
 */
async function requireFreePort({ server, workers }: Settings): Promise<void> {
  const end = performance.now() + (workers > 1 ? LEAVING_MS : 0);
  for (;;) {
    const { host, port, metricsPort } = server;
    const metricsProblem = metricsPort === null ? null : probe(host, metricsPort, "METRICS_PORT");
    const problem = probe(host, port, "PORT") ?? metricsProblem;
    if (problem === null) return;
    if (performance.now() >= end) throw new Error(problem);
    await sleep(PAUSE_MS);
  }
}

/** Returns the reason why the process cannot listen on the port; null when it can. */
function probe(host: string, port: number, variable: string): string | null {
  try {
    Bun.listen({ hostname: host, port, socket: { data() {} } }).stop(true);
    return null;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EADDRINUSE")
      return `port ${port} of ${host} is in use, maybe by another gateway: stop that one, or set ${variable} to another port`;
    if (code === "EACCES")
      return `port ${port} of ${host} is not allowed to this user: set ${variable} to one above 1023`;
    return `${host} is no address of this machine: set HOST to one that is, such as 127.0.0.1, or 0.0.0.0 for all`;
  }
}
