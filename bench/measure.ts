import type { Load, Tally } from "./load.ts";
import { cpuBetween, readCpu } from "./machine.ts";
import type { ServerProcess } from "./processes.ts";

/** The measurement of one server in one window. */
export interface Sample extends Tally {
  /** Processor time of the server in milliseconds. */
  cpuMs: number;
  /** Share of their core that mock and load used. */
  loadShare: number;
  /** Windows without any response before this one, which were run again. */
  emptyWindows: number;
}

export interface Window {
  warmUpMs: number;
  durationMs: number;
}

/** Time for the server to notice disconnects before the next one is measured. */
const SETTLE_MS = 150;

/** How often a window without a response is run again before the measurement fails. */
const MAX_EMPTY_WINDOWS = 3;

/**
 * Runs a load against a server: first unmeasured, then for one window. A window without a response is run again and
 * counted. Throws when that repeats, or when all requests failed.
 */
export async function measure(
  servers: { measured: ServerProcess; mock: ServerProcess },
  start: () => Promise<Load>,
  window: Window,
): Promise<Sample> {
  for (let emptyWindows = 0; emptyWindows <= MAX_EMPTY_WINDOWS; emptyWindows++) {
    const sample = await measureOnce(servers, start, window);
    if (sample.completed > 0) return { ...sample, emptyWindows };
    if (sample.failed > 0) throw new Error(`${servers.measured.name}: all ${sample.failed} requests failed`);
    console.log(`  ${servers.measured.name} answered nothing in a window`);
  }
  throw new Error(`${servers.measured.name} answered nothing in ${MAX_EMPTY_WINDOWS + 1} windows`);
}

async function measureOnce(
  servers: { measured: ServerProcess; mock: ServerProcess },
  start: () => Promise<Load>,
  window: Window,
): Promise<Omit<Sample, "emptyWindows">> {
  const load = await start();
  const loadIds = [servers.mock.processId, ...load.processIds];
  try {
    await Bun.sleep(window.warmUpMs);
    const serverIds = [servers.measured.processId, ...servers.measured.workerIds];
    const server = readCpu(serverIds);
    const others = readCpu(loadIds);
    load.openWindow();
    await Bun.sleep(window.durationMs);
    const tally = load.closeWindow();
    const cpuMs = cpuBetween(server, readCpu(serverIds));
    const loadMs = cpuBetween(others, readCpu(loadIds));
    return {
      ...tally,
      cpuMs,
      loadShare: loadMs / tally.elapsedMs,
    };
  } finally {
    load.stop();
    await Bun.sleep(SETTLE_MS);
  }
}

/** Requests after which the runtime has compiled nearly all hot code of a process, and the most time for them. */
const WARM_UP_REQUESTS = 20_000;
const MAX_WARM_UP_MS = 15_000;

/** Runs a load unmeasured until each process of the server has had enough requests, for some seconds at most. */
export async function warmUp({ workerIds }: ServerProcess, start: () => Promise<Load>): Promise<void> {
  const processes = Math.max(1, workerIds.length);
  const load = await start();
  try {
    load.openWindow();
    const deadline = performance.now() + MAX_WARM_UP_MS * processes;
    const isCold = () => load.closeWindow().completed < WARM_UP_REQUESTS * processes;
    while (isCold() && performance.now() < deadline) await Bun.sleep(200);
  } finally {
    load.stop();
    await Bun.sleep(SETTLE_MS);
  }
}

/**
 * Measures every contender in every round, in a rotating order, so drift affects all equally; ratios are taken within a
 * round. The first round is discarded: until the runtime has compiled hot code, a server costs a multiple.
 */
export async function interleave<Name extends string>(
  rounds: number,
  contenders: Record<Name, () => Promise<Sample>>,
): Promise<Record<Name, Sample>[]> {
  const names = Object.keys(contenders) as Name[];
  const results: Record<Name, Sample>[] = [];
  for (const name of names) await contenders[name]();
  for (let round = 0; round < rounds; round++) {
    const result: Partial<Record<Name, Sample>> = {};
    for (let turn = 0; turn < names.length; turn++) {
      const name = names[(round + turn) % names.length]!;
      result[name] = await contenders[name]();
    }
    results.push(result as Record<Name, Sample>);
  }
  return results;
}
