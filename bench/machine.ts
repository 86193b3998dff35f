import { readdirSync, readFileSync } from "node:fs";
import { cpus } from "node:os";

/** The machine's properties that the report shows and that pinning needs. */
export interface Machine {
  cores: number;
  cpuModel: string;
  /** True when processes can be pinned to cores: the machine has at least two cores and `taskset`. */
  canPin: boolean;
}

/** The core of the measured server, and the core of the mock and the load generator. */
export const SERVER_CORE = 0;
export const LOAD_CORE = 1;
export const BOTH_CORES = "0,1";

export function describeMachine(): Machine {
  const processors = cpus();
  return {
    cores: processors.length,
    cpuModel: processors[0]?.model ?? "unknown",
    canPin: processors.length > 1 && Bun.which("taskset") !== null,
  };
}

/** Pins every thread of a running process to a core. */
export function pinProcess(machine: Machine, processId: number, core: number): void {
  if (!machine.canPin) return;
  Bun.spawnSync(["taskset", "--all-tasks", "--cpu-list", "--pid", String(core), String(processId)]);
}

/** Milliseconds of processor time, by thread. */
export type CpuReading = ReadonlyMap<string, number>;

/**
 * Reads the user and system time of processes from `schedstat`, which counts in nanoseconds. `/proc/<pid>/stat` counts
 * only in hundredths of a second.
 */
export function readCpu(processIds: readonly number[]): CpuReading {
  const reading = new Map<string, number>();
  for (const processId of processIds) {
    const tasks = `/proc/${processId}/task`;
    for (const task of readdirSync(tasks)) {
      const [nanoseconds] = readFileSync(`${tasks}/${task}/schedstat`, "latin1").split(" ");
      reading.set(task, Number(nanoseconds) / 1e6);
    }
  }
  return reading;
}

/** Returns the milliseconds of processor time between two readings, summed over the threads that still run. */
export function cpuBetween(before: CpuReading, after: CpuReading): number {
  let total = 0;
  for (const [task, time] of after) total += time - (before.get(task) ?? 0);
  return total;
}

/**
 * Returns a function that reports the processor time of other programs since this call, as a share of one core. This
 * process and the given processes are not counted. The given processes must still run when the function is called.
 */
export function watchOtherWork(processIds: readonly number[]): () => number {
  const own = [process.pid, ...processIds];
  const read = () => ({ at: performance.now(), busyMs: readMachineBusyMs(), own: readCpu(own) });
  const start = read();
  return () => {
    const end = read();
    return Math.max(0, end.busyMs - start.busyMs - cpuBetween(start.own, end.own)) / (end.at - start.at);
  };
}

/**
 * Returns the busy milliseconds of all cores since the machine's start, including the time that other virtual machines
 * took.
 */
function readMachineBusyMs(): number {
  const line = readFileSync("/proc/stat", "latin1").split("\n", 1)[0] ?? "";
  const [user = 0, nice = 0, system = 0, , , interrupt = 0, softInterrupt = 0, stolen = 0] = line
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return (user + nice + system + interrupt + softInterrupt + stolen) * MS_PER_TICK;
}

/** `/proc/stat` counts in hundredths of a second on Linux. */
const MS_PER_TICK = 10;

export function readResidentMb(processId: number): number {
  const status = readFileSync(`/proc/${processId}/status`, "latin1");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
}
