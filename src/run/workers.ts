import type { Subprocess } from "bun";
import {
  ownCommand,
  processEnvironment,
  RESTARTS_VARIABLE,
  type Settings,
  WORKER_VARIABLE,
} from "../config/index.ts";
import { systemClock } from "../lib/clock.ts";
import { every, sleep } from "../lib/waiting.ts";
import { LimitCoordinator } from "../storage/counters/limit-coordinator.ts";
import type { SupervisorLimits, SupervisorLink, WorkerLimits } from "../storage/counters/limit-messages.ts";
import { systemLog } from "../telemetry/log.ts";
import { openLogOutput } from "../telemetry/log-output.ts";

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 10_000;
/** Number of failed starts in a row after which the supervisor gives up, if no worker serves. */
const MAX_FAILED_STARTS = 5;
const PING_MS = 1_000;
/** Number of pings without a message after which a worker is killed: five seconds of silence. */
const MAX_MISSED_PINGS = 5;

/**
 * Runs the workers of one port. Replaces each worker that ends, and kills workers that no longer respond. The first
 * stop signal stops all workers gracefully; the second signal makes them exit at once. Resolves when all workers have
 * ended. Throws when a worker's first start fails, or when no worker can start any more.
 */
export async function supervise({ workers }: Settings): Promise<void> {
  await new Supervisor(workers).run();
}

class Supervisor {
  readonly #count: number;
  /** Workers by their numbers, which begin at 1. */
  readonly #workers = new Map<number, Worker>();
  readonly #stopping = new AbortController();
  readonly #limits: LimitCoordinator;
  readonly #onProblem = systemLog(openLogOutput().write);
  #failedStarts = 0;
  #failure: Error | null = null;

  constructor(count: number) {
    this.#count = count;
    this.#limits = new LimitCoordinator({
      workers: count,
      clock: systemClock,
      send: (number, limits) => this.#workers.get(number)?.send({ kind: "limits", limits }),
    });
  }

  async run(): Promise<void> {
    onStopSignals({ stop: () => this.#stop(), leave: () => this.#endWorkers("leave") });
    // Workers get a message instead of the signal, because the signal would end a worker that is still starting. Such a
    // worker loads the newest configuration anyway.
    process.on("SIGHUP", () => {
      for (const worker of this.#workers.values()) worker.send({ kind: "reload" });
    });
    const pings = every(
      PING_MS,
      () => this.#ping(),
      (error) => this.#onProblem("workers could not be pinged", error),
    );
    await Promise.all(Array.from({ length: this.#count }, (_, index) => this.#keepRunning(index + 1)));
    await pings.stop();
    if (this.#failure) throw this.#failure;
  }

  async #keepRunning(number: number): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    for (let restarts = 0; !this.#stopping.signal.aborted; restarts += 1) {
      const worker = new Worker({ number, restarts }, (message) => this.#receive(worker, message));
      this.#workers.set(number, worker);
      const how = await worker.ended;
      this.#workers.delete(number);
      this.#limits.workerEnded(number);
      if (this.#stopping.signal.aborted) return;
      this.#onProblem("a worker ended and is started again", `worker ${number} ${how}`);
      if (!worker.isReady) this.#startFailed(restarts === 0 && worker.hasExited);
      pauseMs = worker.isReady ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, MAX_PAUSE_MS);
      await sleep(pauseMs, this.#stopping.signal).catch(() => {});
    }
  }

  /**
   * Gives up after a fatal error, or after too many failed starts while no worker serves. A supervisor that never gave
   * up would run without workers while the configuration is invalid or the database has the schema of a newer version.
   */
  #startFailed(isFatal: boolean): void {
    this.#failedStarts++;
    const serves = [...this.#workers.values()].some(({ isReady }) => isReady);
    if (!isFatal && (serves || this.#failedStarts < MAX_FAILED_STARTS)) return;
    this.#failure ??= new Error("a worker could not start: see its error above");
    this.#stop();
  }

  #receive(worker: Worker, message: WorkerMessage | RelayedMessage): void {
    // A message may arrive after the worker has ended. The worker's part of the limits is already released then.
    if (this.#workers.get(worker.number) !== worker) return;
    if (!("kind" in message)) {
      for (const [to, other] of this.#workers)
        if (to !== message.from && (message.to ?? to) === to) other.send(message);
      return;
    }
    if (message.kind === "limits") this.#limits.receive(worker.number, message.limits);
    if (message.kind === "ready") this.#failedStarts = 0;
  }

  #ping(): void {
    for (const worker of this.#workers.values()) {
      if (worker.ping()) continue;
      this.#onProblem("a worker no longer responds and is killed", `worker ${worker.number}`);
      worker.kill();
    }
  }

  #stop(): void {
    this.#stopping.abort();
    this.#endWorkers("stop");
  }

  #endWorkers(how: "stop" | "leave"): void {
    for (const worker of this.#workers.values()) worker.end(how);
  }
}

/** A message from one worker to another or, without `to`, to all other workers. */
interface RelayedMessage {
  from: number;
  to?: number;
}

class Worker {
  readonly number: number;
  /** Resolves when the worker has ended, with a description of how it ended. */
  readonly ended: Promise<string>;
  /** True after the worker has reported that it serves. */
  isReady = false;
  readonly #process: Subprocess;
  #missedPings = 0;
  #isConnected = true;

  constructor(
    { number, restarts }: { number: number; restarts: number },
    receive: (message: WorkerMessage | RelayedMessage) => void,
  ) {
    this.number = number;
    this.#process = Bun.spawn(ownCommand(), {
      env: {
        ...processEnvironment(),
        [WORKER_VARIABLE]: String(number),
        [RESTARTS_VARIABLE]: String(restarts),
      },
      stdio: ["ignore", "inherit", "inherit"],
      ipc: (message: WorkerMessage | RelayedMessage) => {
        this.#missedPings = 0;
        this.isReady ||= "kind" in message && message.kind === "ready";
        receive(message);
      },
      onDisconnect: () => {
        this.#isConnected = false;
      },
    });
    const { pid, exited } = this.#process;
    this.ended = exited.then(
      (code) => `(process ${pid}) ended by ${this.#process.signalCode ?? `exit ${code}`}`,
    );
  }

  /** True when the worker exited without a signal. */
  get hasExited(): boolean {
    return this.#process.exitCode !== null && this.#process.signalCode === null;
  }

  /** Pings the worker. If a serving worker has been silent for too long, returns false instead. */
  ping(): boolean {
    if (this.isReady && this.#missedPings >= MAX_MISSED_PINGS) return false;
    this.#missedPings++;
    this.send({ kind: "ping" });
    return true;
  }

  send(message: SupervisorMessage | RelayedMessage): void {
    if (this.#isConnected) this.#process.send(message);
  }

  /** Makes the worker stop gracefully, or exit at once. A worker that is still starting exits at once in both cases. */
  end(how: "stop" | "leave"): void {
    this.send({ kind: how });
    // A worker that is still starting may not read messages yet, so it also gets a signal. A worker that reads messages
    // ignores signals.
    if (!this.isReady) this.#process.kill("SIGTERM");
  }

  kill(): void {
    this.#process.kill("SIGKILL");
  }
}

/** A message from a worker to its supervisor. Messages from one worker to another are `RelayedMessage`s. */
type WorkerMessage = { kind: "ready" } | { kind: "pong" } | { kind: "limits"; limits: WorkerLimits };

/** A message from the supervisor to a worker. */
type SupervisorMessage =
  | { kind: "ping" }
  | { kind: "reload" }
  | { kind: "stop" }
  | { kind: "leave" }
  | { kind: "limits"; limits: SupervisorLimits };

/** A worker's connection to its supervisor. */
export interface WorkerLink extends SupervisorLink {
  /** Reports to the supervisor that this worker serves. */
  sendReady(): void;
  /** Sets the handler for the supervisor's message to reload the configuration. */
  onReload(handler: () => void): void;
  /**
   * Resolves when the worker must stop, because the supervisor has ordered it or has ended. A worker that outlived its
   * supervisor would share the port with the workers of the next start.
   */
  readonly stopOrdered: Promise<void>;
  /** Resolves when the worker must exit at once. */
  readonly leaveOrdered: Promise<void>;
}

/** Opens a worker's connection to its supervisor. From then on, pings are answered. */
export function openSupervisorLink(): WorkerLink {
  let receive = (_limits: SupervisorLimits): void => {};
  let reload = (): void => {};
  const stop = Promise.withResolvers<void>();
  const leave = Promise.withResolvers<void>();
  const isConnected = (): boolean => process.connected === true;
  const send = (message: WorkerMessage): void => {
    if (isConnected()) process.send?.(message);
  };
  process.on("message", (message: SupervisorMessage) => {
    if (message.kind === "ping") send({ kind: "pong" });
    else if (message.kind === "reload") reload();
    else if (message.kind === "stop") stop.resolve();
    else if (message.kind === "leave") leave.resolve();
    else if (message.kind === "limits") receive(message.limits);
  });
  process.on("disconnect", () => stop.resolve());
  return {
    isConnected,
    stopOrdered: stop.promise,
    leaveOrdered: leave.promise,
    sendLimits: (limits) => send({ kind: "limits", limits }),
    onLimits: (handler) => {
      receive = handler;
    },
    onReload: (handler) => {
      reload = handler;
    },
    sendReady: () => send({ kind: "ready" }),
  };
}

/**
 * Time within which two signals count as one. A process started by npm gets a signal to the process group twice: from
 * the system and from npm, which forwards the signal.
 */
const SAME_SIGNAL_MS = 1_000;

interface StopHandlers {
  stop(): void;
  leave(): void;
  /** True while signals must be ignored. */
  areIgnored?(): boolean;
}

/** Calls `stop` at the first SIGTERM or SIGINT, and `leave` at each signal a second or more after the first. */
export function onStopSignals({ stop, leave, areIgnored }: StopHandlers): void {
  let firstAt: number | null = null;
  const receive = (): void => {
    if (areIgnored?.()) return;
    const now = performance.now();
    if (firstAt === null) {
      firstAt = now;
      stop();
    } else if (now - firstAt >= SAME_SIGNAL_MS) leave();
  };
  process.on("SIGTERM", receive).on("SIGINT", receive);
}
