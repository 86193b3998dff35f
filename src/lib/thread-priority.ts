import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";
import { constants, getPriority, setPriority } from "node:os";

/**
 * The runtime's threads that compile code and free memory. No request waits for them. But on a busy core each of these
 * threads delays the thread of the requests by up to 4 ms, a tick of the kernel.
 */
const HELPERS = new Set(["JITWorker", "JSCWarmUp", "mi-scavenger"]);

/** Niceness to add: on a busy core, a lowered thread still gets a quarter of the time beside one other thread. */
const BEHIND = 5;

/** Lowers the priority of the calling thread below the priority of the thread that serves requests. */
export function lowerThisThread(): void {
  onLinux(() => lower(Number(basename(readlinkSync("/proc/thread-self")))));
}

/** Lowers the priority of the runtime's helper threads below the priority of the thread that serves requests. */
export function lowerHelperThreads(): void {
  onLinux(() => {
    // If a helper thread ends before the call, the loop must still continue with the other threads.
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

/**
 * Runs `work` on Linux only, where `setPriority` accepts the id of a thread and changes only this thread
 * (setpriority(2)).
 */
function onLinux(work: () => void): void {
  if (process.platform !== "linux") return;
  try {
    work();
  } catch {
    // The thread has ended before this call, or the system hides the threads or forbids the change.
  }
}
