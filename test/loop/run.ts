/**
 * Runs every case with half and all of its items, while another caller calls the sandbox: `npm run loop`. Prints a line
 * for each case, then the cases with the longest waits. Exits with 1 if a wait exceeded 100 ms in every try. Also exits
 * with 1 if all items took over 40 ms, over 2.5 times as long as half of them and over 20 times as long as an eighth.
 * A single step, such as a garbage collection, exceeds only one of these two ratios. A case that exceeds both after other
 * cases is run again in a process of its own, because their garbage distorts its time.
 */
import type { TestGateway } from "../support/gateway.ts";
import { readOptions } from "../support/program-options.ts";
import type { LoopCase, LoopFigures } from "./case.ts";
import { CASES } from "./cases.ts";
import type { HonestFigures, HonestOrder } from "./honest.ts";
import { GROWN_ITEMS, MAX_GROWTH } from "./thread-time.ts";
import { loopThread, openWorld, resetPeak, threadTimes } from "./world.ts";

const values = readOptions({
  command: "npm run loop --",
  does: "Sends everything that grows at its bounds, and prints how long another caller waits meanwhile.",
  options: {
    only: { type: "string", value: "TEXT", help: "cases whose names contain this", default: "" },
    tries: {
      type: "string",
      value: "N",
      help: "most tries of a case that holds the event loop",
      default: "4",
    },
  },
});
const MAX_WAIT_MS = 100;
/** Allowed growth of the work for twice the items. */
const MAX_GROWTH_OF_DOUBLE = 2.5;
/** Minimum running time to judge growth, because other work of the program distorts shorter times. */
const MIN_GROWTH_MS = 40;
const TOO_FAST = "grows too fast";
const MAX_TRIES = Number(values.tries);
const PATIENCE_MS = 60_000;
/** Number of lines that are printed again at the end. */
const WORST = 20;

await using world = await openWorld();
const honest = new Worker(new URL("honest.ts", import.meta.url));
const orders = new Map<TestGateway, Promise<HonestOrder>>();
await askBeside(world.gateway);
await Bun.sleep(1_000);

const cases = CASES.filter(({ name }) => name.includes(values.only));
const rows: Row[] = [];
const startedAt = performance.now();
console.log(row("case", "n", "2n", "wait ms", "growth", "memory MB", ""));
for (const each of cases) {
  const result = await runCase(each).catch((error) => failedRow(each, error));
  if (result.problems.join() === TOO_FAST && cases.length > 1 && !(await failsAlone(each))) {
    result.text += " after other cases only";
    result.problems = [];
  }
  rows.push(result);
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  console.log(`${result.text}  ${rows.length}/${cases.length}, ${seconds} s`);
}
const failures = rows.filter(({ problems }) => problems.length > 0);
console.log("\nThe longest waits:");
const worst = rows.toSorted((one, other) => other.waitMs - one.waitMs).slice(0, WORST);
for (const { text } of worst) console.log(text);
for (const { text } of failures) console.log(`FAILED ${text}`);
console.log(
  failures.length === 0 ? "Nothing held the event loop." : `${failures.length} cases held the event loop.`,
);
await world[Symbol.asyncDispose]();
process.exit(failures.length === 0 ? 0 : 1);

interface Row {
  text: string;
  waitMs: number;
  problems: string[];
}

/** Runs cases in a process of their own: those whose names contain the name of this case. */
async function failsAlone({ name }: LoopCase): Promise<boolean> {
  const alone = Bun.spawn([process.execPath, import.meta.path, "--only", name], { stdout: "ignore" });
  return (await alone.exited) !== 0;
}

async function runCase(each: LoopCase): Promise<Row> {
  const half = Math.floor(each.most / 2);
  let best: { small: LoopFigures; large: LoopFigures } | null = null;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const now = { small: await measure(each, half), large: await measure(each, each.most) };
    best = best ? { small: least(best.small, now.small), large: least(best.large, now.large) } : now;
    if (!holdsLoop(best) && !growsTooFast(best, MAX_GROWTH_OF_DOUBLE)) break;
  }
  if (!best) throw new Error("Try at least once.");
  const { small, large } = best;
  const waitMs = Math.max(small.waitMs, large.waitMs);
  const problems = [
    ...(holdsLoop(best) ? ["holds the loop"] : []),
    ...(growsTooFast(best, MAX_GROWTH_OF_DOUBLE) && (await growsFromEighth(each, large)) ? [TOO_FAST] : []),
  ];
  const text = row(
    each.name,
    String(half),
    String(each.most),
    String(Math.round(waitMs)),
    (large.workMs / Math.max(small.workMs, 0.001)).toFixed(1),
    String(Math.round(large.memoryMb)),
    problems.join(", "),
  );
  return { text, waitMs, problems };
}

function failedRow({ name, most }: LoopCase, error: unknown): Row {
  const problem = String(error);
  return { text: row(name, "", String(most), "", "", "", problem), waitMs: 0, problems: [problem] };
}

interface Pair {
  small: LoopFigures;
  large: LoopFigures;
}

function holdsLoop({ small, large }: Pair): boolean {
  return Math.max(small.waitMs, large.waitMs) > MAX_WAIT_MS;
}

/** True when the work with the larger number of items took over `most` times as long. */
function growsTooFast({ small, large }: Pair, most: number): boolean {
  return large.workMs > MIN_GROWTH_MS && large.workMs > most * small.workMs;
}

async function growsFromEighth(each: LoopCase, large: LoopFigures): Promise<boolean> {
  let small: LoopFigures | null = null;
  for (let tries = 0; tries < MAX_TRIES; tries += 1)
    small = least(small, await measure(each, Math.floor(each.most / GROWN_ITEMS)));
  return small !== null && growsTooFast({ small, large }, MAX_GROWTH);
}

function least(one: LoopFigures | null, two: LoopFigures): LoopFigures {
  if (!one) return two;
  return {
    waitMs: Math.min(one.waitMs, two.waitMs),
    workMs: Math.min(one.workMs, two.workMs),
    memoryMb: Math.min(one.memoryMb, two.memoryMb),
  };
}

async function measure(each: LoopCase, count: number): Promise<LoopFigures> {
  const run = await each.prepare(world, count);
  const gateway = (await each.gateway?.(world, count)) ?? world.gateway;
  await askBeside(gateway);
  Bun.gc(true);
  resetPeak(gateway);
  const before = gateway.resources().residentMb;
  const ranBefore = threadTimes(loopThread(gateway)).ranMs;
  honest.postMessage("begin");
  const figures = await Promise.race([run(), Bun.sleep(PATIENCE_MS)]);
  const { longestMs } = await report();
  return (
    figures ?? {
      waitMs: longestMs,
      workMs: threadTimes(loopThread(gateway)).ranMs - ranBefore,
      memoryMb: gateway.resources().peakMb - before,
    }
  );
}

/** Makes the honest caller call this gateway from now on. */
async function askBeside(gateway: TestGateway): Promise<void> {
  const order = orders.get(gateway) ?? orderOf(gateway);
  orders.set(gateway, order);
  honest.postMessage(await order);
}

async function orderOf(gateway: TestGateway): Promise<HonestOrder> {
  const printed = await gateway.cli("keys", "create", "--name", "honest", "--json");
  return { url: gateway.url, key: JSON.parse(printed).secret as string, loopThread: loopThread(gateway) };
}

function report(): Promise<HonestFigures> {
  return new Promise((resolve) => {
    honest.addEventListener("message", ({ data }) => resolve(data as HonestFigures), { once: true });
    honest.postMessage("report");
  });
}

function row(name: string, ...figures: string[]): string {
  return `${name.padEnd(64)} ${figures.map((figure) => figure.padStart(9)).join(" ")}`;
}
