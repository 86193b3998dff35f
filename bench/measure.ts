import type { Load, Tally } from "./load.ts";
import { cpuBetween, readCpu } from "./machine.ts";
import type { ServerProcess } from "./processes.ts";

/** The measurement of one server in one window. */
export interface Sample extends Tally {
  /** Processor time of the server in milliseconds. */
  cpuMs: number;
  /** The share of the load's core that the mock and the load generator used. */
  loadShare: number;
  /** Number of discarded windows before this one. A window without any response is discarded and measured again. */
  emptyWindows: number;
}

export interface Window {
  warmUpMs: number;
  durationMs: number;
}

/** Time in which a server notices disconnections, so that the next server can be measured. */
const SETTLE_MS = 150;

/** Maximum of discarded windows before the measurement fails. */
const MAX_EMPTY_WINDOWS = 3;

/**
 * Runs a load against a server, first unmeasured and then for one window. A window without any response is discarded
 * and measured again. Throws after too many discarded windows, or when all requests failed.
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

/** Number of requests after which the runtime has compiled nearly all hot code of a process. */
const WARM_UP_REQUESTS = 20_000;
const MAX_WARM_UP_MS = 15_000;

/**
 * Runs a load unmeasured until the processes have handled enough requests, for at most `MAX_WARM_UP_MS` per process.
 */
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
 * Measures every contender in every round, in rotating order, so that drift affects all contenders equally. Ratios are
 * taken within a round. The first round is discarded, because the runtime still compiles hot code.
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
