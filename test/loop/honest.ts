import { threadTimes } from "./world.ts";

declare const self: Worker;

/**
 * The honest caller calls the sandbox repeatedly in a separate thread and reports the longest response time. Time in
 * which the gateway or this thread waited for a processor is subtracted.
 */
export interface HonestOrder {
  url: string;
  key: string;
  /** Path in `/proc` of the thread with the gateway's event loop. */
  loopThread: string;
}

export interface HonestFigures {
  longestMs: number;
  calls: number;
}

const PAUSE_MS = 2;
let figures: HonestFigures = { longestMs: 0, calls: 0 };
let report = false;
/** The gateway to call until the next order arrives. */
let order: HonestOrder | null = null;

self.onmessage = ({ data }: MessageEvent<HonestOrder | "begin" | "report">) => {
  if (data === "begin") figures = { longestMs: 0, calls: 0 };
  else if (data === "report") report = true;
  else if (order) order = data;
  else void ask((order = data));
};

async function ask(first: HonestOrder): Promise<void> {
  const body = JSON.stringify({ model: "sandbox-chat", messages: [{ role: "user", content: "hello" }] });
  for (;;) {
    const { url, key, loopThread } = order ?? first;
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const waited = () => threadTimes(loopThread).waitedMs + threadTimes("/proc/thread-self").waitedMs;
    const startedAt = performance.now();
    const before = waited();
    const response = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body });
    await response.text();
    const tookMs = performance.now() - startedAt - (waited() - before);
    figures.longestMs = Math.max(figures.longestMs, tookMs);
    figures.calls += 1;
    if (report) {
      report = false;
      self.postMessage(figures);
    }
    await Bun.sleep(PAUSE_MS);
  }
}
