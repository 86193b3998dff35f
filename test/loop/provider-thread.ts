import type { LoopFigures } from "./case.ts";
import { callsOf } from "./provider-calls.ts";
import { threadTimes } from "./world.ts";

declare const self: Worker;

/** Calls a vendor in a thread of its own. Reports how long this thread could run nothing else. */
export interface ProviderOrder {
  provider: string;
  what: string;
  url: string;
}

const THREAD = "/proc/thread-self";

self.onmessage = async ({ data }: MessageEvent<ProviderOrder>) => {
  const { provider, what, url } = data;
  const call = callsOf(provider, url).find(([name]) => name === what)?.[1];
  if (!call) throw new Error(`${provider} offers no ${what}`);
  const start = threadTimes(THREAD);
  let waitMs = 0;
  const over = new AbortController();
  const turns = (async () => {
    while (!over.signal.aborted) {
      const before = { at: performance.now(), ...threadTimes(THREAD) };
      await Bun.sleep(1);
      const now = threadTimes(THREAD);
      const tookMs = performance.now() - before.at - (now.waitedMs - before.waitedMs);
      waitMs = Math.max(waitMs, tookMs);
    }
  })();
  await call().catch(() => {});
  over.abort();
  await turns;
  const workMs = threadTimes(THREAD).ranMs - start.ranMs;
  self.postMessage({ waitMs, workMs, memoryMb: 0 } satisfies LoopFigures);
};
// A message that arrives before the modules are loaded would be lost. So the thread reports when it is ready.
self.postMessage("ready");
