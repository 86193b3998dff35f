import type { Subprocess } from "bun";
import { processEnvironment, WORKER_VARIABLE, type Settings } from "./config/index.ts";

/** A worker that dies sooner than this after its start is restarted with growing pauses. */
const STABLE_MS = 10_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;

/**
 * Runs the workers of one port and starts a new one for each that dies. The first signal is passed on and the
 * workers are waited for; so is the second, by which they leave at once. Resolves when all have ended; throws when
 * one cannot even start once.
 */
export async function supervise({ workers }: Settings): Promise<void> {
  const running = new Set<Subprocess>();
  const state = { isStopping: false };
  const pass = (): void => {
    state.isStopping = true;
    for (const worker of running) worker.kill("SIGTERM");
  };
  process.on("SIGTERM", pass);
  process.on("SIGINT", pass);
  await Promise.all(Array.from({ length: workers }, () => keepRunning(running, state)));
}

async function keepRunning(running: Set<Subprocess>, state: { isStopping: boolean }): Promise<void> {
  let pauseMs = FIRST_PAUSE_MS;
  for (let isFirst = true; !state.isStopping; isFirst = false) {
    const startedAt = performance.now();
    const worker = start();
    running.add(worker);
    await worker.exited;
    running.delete(worker);
    if (state.isStopping) return;
    if (isFirst && worker.signalCode === null && performance.now() - startedAt < STABLE_MS) {
      for (const other of running) other.kill();
      state.isStopping = true;
      throw new Error("A worker could not start; what it said stands above.");
    }
    pauseMs =
      performance.now() - startedAt > STABLE_MS ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    await Bun.sleep(pauseMs);
  }
}

function start(): Subprocess {
  return Bun.spawn([process.execPath, ...process.argv.slice(1)], {
    env: { ...processEnvironment(), [WORKER_VARIABLE]: "1" },
    stdio: ["ignore", "inherit", "inherit"],
  });
}
