/**
 * Calls a gateway's health check repeatedly until standard input ends. Prints the number, p95 and maximum of the calls'
 * durations, and the longest stall: the duration of a call while the gateway's main thread computed. A wait for a busy
 * machine is not a stall. Usage: `images-pinger.ts <address> <process id>`.
 */
import { readFileSync } from "node:fs";

const [url = "", pid = ""] = process.argv.slice(2);
const PAUSE_MS = 5;

const input = { isOver: false };
void (async () => {
  for await (const _ of Bun.stdin.stream());
  input.isOver = true;
})();

const latencies: number[] = [];
let longestStallMs = 0;
while (!input.isOver) {
  const [startedAt, cpu] = [performance.now(), mainThreadMs()];
  await (await fetch(`${url}/healthz`)).arrayBuffer();
  const tookMs = performance.now() - startedAt;
  latencies.push(tookMs);
  longestStallMs = Math.max(longestStallMs, Math.min(tookMs, mainThreadMs() - cpu));
  await Bun.sleep(PAUSE_MS);
}
latencies.sort((a, b) => a - b);
const at = (share: number) => Math.round(latencies[Math.floor((latencies.length - 1) * share)] ?? 0);
console.log(
  JSON.stringify({
    pings: latencies.length,
    p95Ms: at(0.95),
    maxMs: at(1),
    stallMs: Math.round(longestStallMs),
  }),
);

function mainThreadMs(): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "latin1").split(" ")[0]) / 1e6;
}
