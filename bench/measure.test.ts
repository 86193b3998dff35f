import { expect, test } from "bun:test";
import type { Load, Tally } from "./load.ts";
import { measure, warmUp } from "./measure.ts";

const self = {
  name: "server",
  processId: process.pid,
  workerIds: [],
  address: { hostname: "127.0.0.1", port: 0 },
  stop: async () => {},
};
const servers = { measured: self, mock: self };
const window = { warmUpMs: 0, durationMs: 1 };

/** Returns a function that starts loads. Each load's window ends with the next of the given counts. */
function windowsOf(...counts: { completed: number; failed: number }[]): () => Promise<Load> {
  return async () => {
    const count = counts.shift() ?? { completed: 0, failed: 0 };
    const tally: Tally = { ...count, elapsedMs: 1, bodyBytes: 0, latenciesMs: [], firstBytesMs: [] };
    return { processIds: [], openWindow: () => {}, closeWindow: () => tally, stop: () => {} };
  };
}

test.if(process.platform === "linux")("a window without a response is run again and counted", async () => {
  const sample = await measure(
    servers,
    windowsOf({ completed: 0, failed: 0 }, { completed: 5, failed: 0 }),
    window,
  );
  expect([sample.completed, sample.emptyWindows]).toEqual([5, 1]);
});

test.if(process.platform === "linux")(
  "a server without responses, or with failures only, ends the measurement",
  async () => {
    await expect(measure(servers, windowsOf(), window)).rejects.toThrow("answered nothing");
    await expect(measure(servers, windowsOf({ completed: 0, failed: 7 }), window)).rejects.toThrow(
      "all 7 requests failed",
    );
  },
);

test("a warm-up lasts until every process has had its requests", async () => {
  let completed = 0;
  let isStopped = false;
  const load: Load = {
    processIds: [],
    openWindow: () => {},
    closeWindow: () => ({
      completed: (completed += 15_000),
      failed: 0,
      elapsedMs: 1,
      bodyBytes: 0,
      latenciesMs: [],
      firstBytesMs: [],
    }),
    stop: () => void (isStopped = true),
  };
  await warmUp({ ...self, workerIds: [1, 2] }, async () => load);
  expect([completed, isStopped]).toEqual([45_000, true]);
});
