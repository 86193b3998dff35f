import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";
import { constants, getPriority, setPriority } from "node:os";

/**
 * The runtime's threads that compile code and give memory back. No request waits for them, but on a busy core one that
 * runs lets the thread of the requests wait for up to a tick of the kernel, 4 ms.
 */
const HELPERS = new Set(["JITWorker", "JSCWarmUp", "mi-scavenger"]);

/** Five steps of niceness: on a core without idle time such a thread still gets a quarter beside one other. */
const BEHIND = 5;

/** Lets the thread that calls this run behind the one that serves requests. */
export function lowerThisThread(): void {
  onLinux(() => lower(Number(basename(readlinkSync("/proc/thread-self")))));
}

/** Lets the helpers of the runtime that have started run behind the thread that serves requests. */
export function lowerHelperThreads(): void {
  onLinux(() => {
    // One that has ended meanwhile keeps none of the others as it is.
    for (const id of readdirSync("/proc/self/task")) onLinux(() => lowerHelper(id));
  });
}

function lowerHelper(id: string): void {
  if (HELPERS.has(readFileSync(`/proc/self/task/${id}/comm`, "utf8").trim())) lower(Number(id));
}

function lower(threadId: number): void {
  const { PRIORITY_LOW } = constants.priority;
  setPriority(threadId, Math.min(PRIORITY_LOW, getPriority(process.pid) + BEHIND));
}

/** Only Linux gives each thread a priority of its own (setpriority(2)). Without one the gateway is slower, no more. */
function onLinux(work: () => void): void {
  if (process.platform !== "linux") return;
  try {
    work();
  } catch {
    // A thread has ended meanwhile, or the system shows no threads or forbids this.
  }
}
