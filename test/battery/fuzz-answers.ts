/**
 * Changes vendors' responses at random for callers of every protocol: `bun test/battery/fuzz-answers.ts [--bodies N]
 * [--seed N] [--from N]`. Allows no crash and no stall. A response must have one charge of whole numbers, which the
 * client's record repeats. The charge may exceed the hold only by documented margins. At the end nothing may be held. A
 * violation has a number, and `--from NUMBER --bodies 1` repeats the violation. Exits with 1 on a violation.
 */
import { openAnswerRig } from "../support/fuzz/answer-rig.ts";
import type { Extent } from "../support/fuzz/answer-mutations.ts";
import { recordAnswers } from "../support/fuzz/answers.ts";
import { readOptions } from "../support/program-options.ts";

const BODIES = 200_000;
/** Number of responses of one core instance. Afterwards no hold may remain. */
const BATCH = 500;
/** Number of core instances that run concurrently. */
const LANES = 8;
/** Maximum processor time of one turn of the event loop. Any response needs far less. */
const MAX_TURN_MS = 500;
const MAX_VIOLATIONS = 20;

export interface AnswerFigures {
  /** Number of responses by caller, vendor and kind of end. */
  outcomes: Record<string, number>;
  longestTurnMs: number;
  violations: string[];
}

export async function fuzzAnswers(
  bodies: number,
  seed: number,
  from = 0,
  extent?: Extent,
): Promise<AnswerFigures> {
  const answers = await recordAnswers();
  const outcomes: Record<string, number> = {};
  const violations: string[] = [];
  const turns = watchTurns();
  let next = from;
  const lane = async (): Promise<void> => {
    while (next < from + bodies && violations.length < MAX_VIOLATIONS) {
      const first = next;
      next = Math.min(first + BATCH, from + bodies);
      const last = next;
      const rig = openAnswerRig(answers);
      for (let index = first; index < last; index += 1) {
        const problem = await rig.send(seed, index, extent);
        if (problem !== null) violations.push(problem);
        // Each response has its own turn of the event loop.
        await new Promise(setImmediate);
      }
      const left = await rig.end();
      if (left !== null) violations.push(`${first} to ${last - 1}: ${left}`);
      for (const [name, count] of rig.outcomes) outcomes[name] = (outcomes[name] ?? 0) + count;
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  const longestTurnMs = turns.end();
  if (longestTurnMs > MAX_TURN_MS) violations.push(`a turn of ${longestTurnMs} ms`);
  return { outcomes, longestTurnMs, violations };
}

/** Measures the processor time between two ticks of a timer, because a busy machine lengthens wall-clock time. */
function watchTurns(): { end(): number } {
  let before = process.cpuUsage();
  let longest = 0;
  const timer = setInterval(() => {
    longest = Math.max(longest, process.cpuUsage(before).user);
    before = process.cpuUsage();
  }, 1);
  return {
    end() {
      clearInterval(timer);
      return Math.round(longest / 1_000);
    },
  };
}

if (import.meta.main) {
  const values = readOptions({
    command: "bun test/battery/fuzz-answers.ts",
    does: "Changes answers of simulated vendors at random, and checks the charge of each.",
    options: {
      bodies: { type: "string", value: "N", help: "how many" },
      seed: { type: "string", value: "N", help: "repeats the run that printed this seed" },
      from: { type: "string", value: "N", help: "number of the first" },
    },
  });
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  console.log(`seed ${seed}`);
  const startedAt = performance.now();
  const bodies = Number(values.bodies ?? BODIES);
  const { violations, ...figures } = await fuzzAnswers(bodies, seed, Number(values.from ?? 0));
  console.dir(
    { ...figures, bodies, seconds: Math.round((performance.now() - startedAt) / 1_000) },
    { depth: 3 },
  );
  for (const violation of violations) console.log(violation);
  process.exit(violations.length === 0 ? 0 : 1);
}
