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

/** What the threads of some processes have had of the processors so far, by thread. */
export type CpuReading = ReadonlyMap<string, CpuTime>;

/** Milliseconds. */
export interface CpuTime {
  /** User and system time. */
  ran: number;
  /** Ready to run, but the core was busy with another thread. */
  waited: number;
}

/**
 * Reads the processor time of processes. It is the time of `/proc/<pid>/stat` from the scheduler's own account,
 * which counts nanoseconds where `stat` counts hundredths of a second.
 */
export function readCpu(processIds: readonly number[]): CpuReading {
  const reading = new Map<string, CpuTime>();
  for (const processId of processIds) {
    const tasks = `/proc/${processId}/task`;
    for (const task of readdirSync(tasks)) {
      const [ran, waited] = readFileSync(`${tasks}/${task}/schedstat`, "latin1").split(" ");
      reading.set(task, { ran: Number(ran) / 1e6, waited: Number(waited) / 1e6 });
    }
  }
  return reading;
}

/** The time between two readings, all threads together. */
export function cpuBetween(before: CpuReading, after: CpuReading): CpuTime {
  const total = { ran: 0, waited: 0 };
  for (const [task, time] of after) {
    const earlier = before.get(task);
    total.ran += time.ran - (earlier?.ran ?? 0);
    total.waited += time.waited - (earlier?.waited ?? 0);
  }
  return total;
}

/** Resident memory in MB. */
export function readResidentMb(processId: number): number {
  const status = readFileSync(`/proc/${processId}/status`, "latin1");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
}
