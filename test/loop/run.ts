/**
 * Sends everything that grows at half and at all of its bounds, while another caller asks the sandbox:
 * `npm run loop -- [--only TEXT] [--tries N]`. Prints a line for each case and exits with 1 where the other caller waited
 * for over 100 ms, each time that it was tried, or twice as many items took more than two and a half times as long.
 */
import { parseArgs } from "node:util";
import type { LoopCase } from "./case.ts";
import { CASES } from "./cases.ts";
import type { HonestFigures } from "./honest.ts";
import { loopThread, openWorld, resetPeak, threadTimes } from "./world.ts";

const { values } = parseArgs({ options: { only: { type: "string" }, tries: { type: "string" } } });
const MAX_WAIT_MS = 100;
const MAX_GROWTH = 2.5;
/** Below this, what the program does besides is a large part of a time. */
const MIN_GROWTH_MS = 40;
const MAX_TRIES = Number(values.tries ?? 4);
const PATIENCE_MS = 60_000;

interface Figures {
  waitMs: number;
  /** Of the thread with the event loop. */
  workMs: number;
  memoryMb: number;
}

await using world = await openWorld();
const { gateway } = world;
const honest = new Worker(new URL("honest.ts", import.meta.url));
honest.postMessage({ url: gateway.url, key: await otherKey("honest"), loopThread: loopThread(gateway) });
await Bun.sleep(1_000);

let failures = 0;
console.log(row("case", "n", "2n", "wait ms", "growth", "memory MB", ""));
for (const each of CASES) {
  if (values.only !== undefined && !each.name.includes(values.only)) continue;
  const problem = await runCase(each);
  if (problem) failures += 1;
}
console.log(failures === 0 ? "Nothing held the event loop." : `${failures} cases held the event loop.`);
process.exit(failures === 0 ? 0 : 1);

async function runCase(each: LoopCase): Promise<boolean> {
  const half = Math.floor(each.most / 2);
  let best: { small: Figures; large: Figures } | null = null;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const now = { small: await measure(each, half), large: await measure(each, each.most) };
    best = best ? { small: least(best.small, now.small), large: least(best.large, now.large) } : now;
    if (problemsOf(best).length === 0) break;
  }
  if (!best) return false;
  const problems = problemsOf(best);
  const growth = best.large.workMs / Math.max(best.small.workMs, 0.001);
  console.log(
    row(
      each.name,
      String(half),
      String(each.most),
      String(Math.round(Math.max(best.small.waitMs, best.large.waitMs))),
      growth.toFixed(1),
      String(Math.round(best.large.memoryMb)),
      problems.join(", "),
    ),
  );
  return problems.length > 0;
}

function problemsOf({ small, large }: { small: Figures; large: Figures }): string[] {
  return [
    ...(Math.max(small.waitMs, large.waitMs) > MAX_WAIT_MS ? ["holds the loop"] : []),
    ...(large.workMs > MIN_GROWTH_MS && large.workMs > MAX_GROWTH * small.workMs ? ["grows too fast"] : []),
  ];
}

function least(one: Figures, two: Figures): Figures {
  return {
    waitMs: Math.min(one.waitMs, two.waitMs),
    workMs: Math.min(one.workMs, two.workMs),
    memoryMb: Math.min(one.memoryMb, two.memoryMb),
  };
}

async function measure(each: LoopCase, count: number): Promise<Figures> {
  const run = await each.prepare(world, count);
  Bun.gc(true);
  resetPeak(gateway);
  const before = gateway.resources().residentMb;
  const ranBefore = threadTimes(loopThread(gateway)).ranMs;
  honest.postMessage("begin");
  await Promise.race([run(), Bun.sleep(PATIENCE_MS)]);
  const { longestMs } = await report();
  return {
    waitMs: longestMs,
    workMs: threadTimes(loopThread(gateway)).ranMs - ranBefore,
    memoryMb: gateway.resources().peakMb - before,
  };
}

function report(): Promise<HonestFigures> {
  return new Promise((resolve) => {
    honest.addEventListener("message", ({ data }) => resolve(data as HonestFigures), { once: true });
    honest.postMessage("report");
  });
}

async function otherKey(name: string): Promise<string> {
  const printed = await gateway.cli("keys", "create", "--name", name, "--json");
  return JSON.parse(printed).secret as string;
}

function row(name: string, ...figures: string[]): string {
  return `${name.padEnd(64)} ${figures.map((figure) => figure.padStart(10)).join(" ")}`;
}
