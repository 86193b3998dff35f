/**
 * Sends random bodies to every endpoint that accepts a body: `bun test/battery/fuzz.ts [--bodies N] [--seed N] [--from
 * N]`. Allows no status from 500 up, no stall over 100 ms, no left temporary file, and no growth of memory or
 * descriptors beyond a bound. A violation has a number, and `--from NUMBER --bodies 1` repeats the violation. Exits
 * with 1 on a violation.
 */
import { join } from "node:path";
import { spooled } from "./images-memory.ts";
import { openFuzzRig, type FuzzRig } from "../support/fuzz/gateway.ts";
import { until } from "../support/gateway.ts";
import { readOptions } from "../support/program-options.ts";

export const FUZZ_BODIES = 200_000;

export interface FuzzFigures {
  bodies: number;
  seconds: number;
  stallMs: number;
  /** Resident memory after the first bodies. `endMb` is the value after all bodies. */
  warmMb: number;
  endMb: number;
  violations: string[];
}

/** Number of concurrent requests. */
const LANES = 8;
/** Number of bodies after which memory, connections and caches no longer grow. */
const WARM_BODIES = 5_000;
const MAX_STALL_MS = 100;
const MAX_GROWTH_MB = 64;
const MAX_DESCRIPTORS = 40;
const MAX_VIOLATIONS = 20;

export async function fuzz(bodies: number, seed: number, from = 0): Promise<FuzzFigures> {
  await using rig = await openFuzzRig();
  const violations: string[] = [];
  const startedAt = performance.now();
  const warm = Math.min(WARM_BODIES, Math.floor(bodies / 4));
  await sendAll(rig, seed, from, from + warm, violations);
  const before = await settled(rig);
  const watch = watchStalls(rig);
  await sendAll(rig, seed, from + warm, from + bodies, violations);
  const stallMs = await watch.longestMs();
  const after = await settled(rig);
  const left = spooled(rig.gateway).filter((name) => name.startsWith("spool-")).length;
  if (stallMs > MAX_STALL_MS) violations.push(`a stall of ${stallMs} ms`);
  if (after.residentMb > before.residentMb + MAX_GROWTH_MB)
    violations.push(`memory grew from ${before.residentMb} to ${after.residentMb} MB`);
  if (after.descriptors > before.descriptors + MAX_DESCRIPTORS)
    violations.push(`descriptors grew from ${before.descriptors} to ${after.descriptors}`);
  if (left > 0) violations.push(`${left} temporary files are left`);
  return {
    bodies,
    seconds: Math.round((performance.now() - startedAt) / 1000),
    stallMs,
    warmMb: before.residentMb,
    endMb: after.residentMb,
    violations,
  };
}

async function sendAll(
  rig: FuzzRig,
  seed: number,
  from: number,
  to: number,
  violations: string[],
): Promise<void> {
  let next = from;
  const lane = async (): Promise<void> => {
    while (next < to && violations.length < MAX_VIOLATIONS) {
      const problem = await rig.send(seed, next++);
      if (problem !== null) violations.push(problem);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

/**
 * Waits at most five seconds until no temporary file is left, and two more seconds after that. Returns the used
 * resources.
 */
async function settled({ gateway }: FuzzRig): Promise<ReturnType<FuzzRig["gateway"]["resources"]>> {
  const isClean = () => (spooled(gateway).every((name) => !name.startsWith("spool-")) ? true : undefined);
  await until("the spool to be empty", isClean, 5_000).catch(() => undefined);
  await Bun.sleep(2_000);
  return gateway.resources();
}

function watchStalls({ gateway }: FuzzRig): { longestMs(): Promise<number> } {
  const pinger = Bun.spawn(
    [process.execPath, join(import.meta.dir, "images-pinger.ts"), gateway.url, String(gateway.pid)],
    { stdin: "pipe", stdout: "pipe", stderr: "inherit" },
  );
  return {
    async longestMs() {
      await pinger.stdin.end();
      return JSON.parse(await new Response(pinger.stdout).text()).stallMs;
    },
  };
}

if (import.meta.main) {
  const values = readOptions({
    command: "bun test/battery/fuzz.ts",
    does: "Sends random bodies to every endpoint.",
    options: {
      bodies: { type: "string", value: "N", help: "how many" },
      seed: { type: "string", value: "N", help: "repeats the run that printed this seed" },
      from: { type: "string", value: "N", help: "number of the first" },
    },
  });
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  console.log(`seed ${seed}`);
  const { violations, ...figures } = await fuzz(
    Number(values.bodies ?? FUZZ_BODIES),
    seed,
    Number(values.from ?? 0),
  );
  console.log(figures);
  for (const violation of violations) console.log(violation);
  process.exit(violations.length === 0 ? 0 : 1);
}
