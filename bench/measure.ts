import type { Load, Tally } from "./load.ts";
import { cpuBetween, readCpu } from "./machine.ts";
import type { ServerProcess } from "./processes.ts";

/** What one server did in one window of load. */
export interface Sample extends Tally {
  /** Processor time the server used, in milliseconds. */
  cpuMs: number;
  /** Share of its core that mock and load used. */
  loadShare: number;
  /** Windows before this one in which nothing was answered at all, and which were run again. */
  emptyWindows: number;
}

export interface Window {
  warmUpMs: number;
  durationMs: number;
}

/** Time for hang-ups to be noticed and their work to end before the next server has its turn. */
const SETTLE_MS = 150;

/** How often a window without any answer is run again before the server counts as dead. */
const MAX_EMPTY_WINDOWS = 3;

/**
 * Lets a load run against a server: first unmeasured, then for the length of the window. A window in which nothing
 * was answered measures nothing; it is run again and counted. Throws when that goes on, or when all answers failed.
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
    const server = readCpu([servers.measured.processId]);
    const others = readCpu(loadIds);
    load.openWindow();
    await Bun.sleep(window.durationMs);
    const tally = load.closeWindow();
    const cpuMs = cpuBetween(server, readCpu([servers.measured.processId]));
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

/**
 * Gives every contender its turn in every round, in an order that moves on by one each round, so that what
 * drifts on a shared machine hits all of them alike. Ratios are then taken inside a round. One more round runs
 * first and is thrown away: the runtime compiles what is hot, and until then a server costs a multiple.
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
