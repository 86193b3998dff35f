import { readdirSync, readFileSync } from "node:fs";
import { cpus } from "node:os";

/** The machine as the report names it, and who runs on which core. */
export interface Machine {
  cores: number;
  cpuModel: string;
  /** Processes can be pinned: there are two cores and `taskset`. */
  canPin: boolean;
}

/** The core of whatever is measured, and that of the mock and the load. */
export const SERVER_CORE = 0;
export const LOAD_CORE = 1;

export function describeMachine(): Machine {
  const processors = cpus();
  return {
    cores: processors.length,
    cpuModel: processors[0]?.model ?? "unknown",
    canPin: processors.length > 1 && Bun.which("taskset") !== null,
  };
}

/** Moves every thread of this process, which is the load, to its core. */
export function pinThisProcess(machine: Machine): void {
  if (!machine.canPin) return;
  Bun.spawnSync(["taskset", "--all-tasks", "--cpu-list", "--pid", String(LOAD_CORE), String(process.pid)]);
}

/** Milliseconds of processor time each thread of some processes has had so far. */
export type CpuReading = ReadonlyMap<string, number>;

/**
 * Reads the user and system time of processes. It is the time of `/proc/<pid>/stat` from the scheduler's own
 * account, which counts nanoseconds where `stat` counts hundredths of a second.
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

/** Milliseconds between two readings, all threads together. */
export function cpuBetween(before: CpuReading, after: CpuReading): number {
  let total = 0;
  for (const [task, time] of after) total += time - (before.get(task) ?? 0);
  return total;
}

/** Milliseconds the machine's cores have been busy since its start, or were given to another machine. */
export function readMachineBusyMs(): number {
  const line = readFileSync("/proc/stat", "latin1").split("\n", 1)[0] ?? "";
  const [user = 0, nice = 0, system = 0, , , interrupt = 0, softInterrupt = 0, stolen = 0] = line
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return (user + nice + system + interrupt + softInterrupt + stolen) * MS_PER_TICK;
}

/** The unit of `/proc/stat`, a hundredth of a second on every current Linux. */
const MS_PER_TICK = 10;

/** Resident memory in MB. */
export function readResidentMb(processId: number): number {
  const status = readFileSync(`/proc/${processId}/status`, "latin1");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
}
