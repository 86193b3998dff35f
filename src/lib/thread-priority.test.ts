import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { constants, getPriority } from "node:os";
import { Worker } from "node:worker_threads";
import { lowerHelperThreads } from "./thread-priority.ts";

const isLinux = process.platform === "linux";

test.if(isLinux)("a thread lowers itself and no other one", async () => {
  const own = getPriority(process.pid);
  const before = priorities();
  const thread = new Worker(
    `import { lowerThisThread } from ${JSON.stringify(import.meta.resolve("./thread-priority.ts"))};
     import { parentPort } from "node:worker_threads";
     lowerThisThread();
     parentPort.postMessage("lowered");
     setInterval(() => {}, 1000);`,
    { eval: true },
  );
  await new Promise((resolve) => thread.once("message", resolve));
  const after = [...priorities()];
  await thread.terminate();

  // Only the expected threads are checked, because a thread starts others, such as its garbage collector.
  const added = after.filter(([id]) => !before.has(id)).map(([, each]) => each);
  expect(added).toContainEqual({ name: "Worker", nice: behind(own) });
  const lowered = after.filter(([id, { nice }]) => before.has(id) && nice !== before.get(id)?.nice);
  expect(lowered).toBeEmpty();
});

test.if(isLinux)("the helpers of the runtime are lowered, the thread of the requests is not", () => {
  const own = getPriority(process.pid);
  lowerHelperThreads();

  const all = [...priorities().values()];
  expect(all.filter(({ name }) => name === "JITWorker")).not.toBeEmpty();
  expect(all.filter(({ name, nice }) => name === "JITWorker" && nice !== behind(own))).toBeEmpty();
  expect(priorities().get(process.pid)).toMatchObject({ nice: own });
});

/** Returns the names and niceness of this process's threads, by thread id. */
function priorities(): Map<number, { name: string; nice: number }> {
  const threads = readdirSync("/proc/self/task").map(Number);
  return new Map(
    threads.map((id) => [
      id,
      { name: readFileSync(`/proc/self/task/${id}/comm`, "utf8").trim(), nice: getPriority(id) },
    ]),
  );
}

/** Returns the priority of a lowered thread in a process with the priority `own`. */
function behind(own: number): number {
  return Math.min(constants.priority.PRIORITY_LOW, own + 5);
}
