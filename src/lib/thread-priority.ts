import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";
import { constants, getPriority, setPriority } from "node:os";

/**
 * The runtime's threads that compile code and free memory. No request waits for them, but on a busy core each of them
 * delays the thread of the requests by up to a tick of the kernel, 4 ms.
 */
const HELPERS = new Set(["JITWorker", "JSCWarmUp", "mi-scavenger"]);

/** Five steps of niceness: on a busy core such a thread still gets a quarter of the time when one other thread runs. */
const BEHIND = 5;

/** Gives the calling thread a lower priority than the one that serves requests. */
export function lowerThisThread(): void {
  onLinux(() => lower(Number(basename(readlinkSync("/proc/thread-self")))));
}

/** Gives the helper threads of the runtime a lower priority than the thread that serves requests. */
export function lowerHelperThreads(): void {
  onLinux(() => {
    // A helper thread that has ended meanwhile must not stop the loop for the others.
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

/** Only Linux has a priority for each thread (setpriority(2)). On other systems these threads can delay requests. */
function onLinux(work: () => void): void {
  if (process.platform !== "linux") return;
  try {
    work();
  } catch {
    // The thread has ended meanwhile, or the system hides threads or forbids the change.
  }
}
