import type { Subprocess } from "bun";
import { processEnvironment, WORKER_VARIABLE, type Settings } from "./config/index.ts";

/** A worker that dies sooner than this after its start is restarted with growing pauses. */
const STABLE_MS = 10_000;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 10_000;

/** Tells a worker to leave at once. A second SIGTERM would not do: it merges with a first one not yet delivered. */
export const LEAVE_SIGNAL = "SIGUSR2";

/** Running workers by their number, from 1. */
type Workers = Map<number, Subprocess>;

/**
 * Runs the workers of one port and starts a new one for each that dies. The first signal is passed on and the
 * workers are waited for; at the second they leave at once. Resolves when all have ended; throws when
 * one cannot even start once.
 */
export async function supervise({ workers }: Settings): Promise<void> {
  const running: Workers = new Map();
  const state = { isStopping: false };
  const pass = (): void => {
    const signal = state.isStopping ? LEAVE_SIGNAL : "SIGTERM";
    state.isStopping = true;
    for (const worker of running.values()) worker.kill(signal);
  };
  process.on("SIGTERM", pass);
  process.on("SIGINT", pass);
  await Promise.all(Array.from({ length: workers }, (_, index) => keepRunning(index + 1, running, state)));
}

async function keepRunning(number: number, running: Workers, state: { isStopping: boolean }): Promise<void> {
  let pauseMs = FIRST_PAUSE_MS;
  for (let isFirst = true; !state.isStopping; isFirst = false) {
    const startedAt = performance.now();
    const worker = start(number, running);
    running.set(number, worker);
    await worker.exited;
    running.delete(number);
    if (state.isStopping) return;
    if (isFirst && worker.signalCode === null && performance.now() - startedAt < STABLE_MS) {
      for (const other of running.values()) other.kill();
      state.isStopping = true;
      throw new Error("a worker could not start; what it said stands above");
    }
    pauseMs =
      performance.now() - startedAt > STABLE_MS ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, MAX_PAUSE_MS);
    await Bun.sleep(pauseMs);
  }
}

function start(number: number, running: Workers): Subprocess {
  return Bun.spawn([process.execPath, ...process.argv.slice(1)], {
    env: { ...processEnvironment(), [WORKER_VARIABLE]: String(number) },
    stdio: ["ignore", "inherit", "inherit"],
    // Workers say something to one of them, or to all others; the supervisor only hands it on.
    ipc(message: { from: number; to?: number }) {
      for (const [to, worker] of running)
        if (to !== message.from && (message.to ?? to) === to) worker.send(message);
    },
  });
}
