import { findPostgres, startPostgres } from "../support/postgres.ts";
import { killRounds, seeded } from "../support/kill-rounds.ts";
import { readOptions } from "../support/program-options.ts";
import { CROWD_EXIT, CROWD_SECONDS, runCrowd } from "./crowd.ts";
import { FUZZ_BODIES, fuzz } from "./fuzz.ts";
import { measureLargest } from "./images-memory.ts";
import { killJobs } from "./job-kills.ts";
import { MIXES } from "./mixes.ts";
import { killUnderLoad } from "./money-kills.ts";
import { compareWithModel } from "./money-model.ts";
import { outlast } from "./money-outages.ts";
import { readCorpus } from "./pictures.ts";
import { runMix } from "./run-mix.ts";
import { required } from "./setting.ts";
import { runWithoutMends, UNMENDED_SECONDS } from "./without-mends.ts";

/*
 * Random faults under load with a comparison of all records, attacks beside honest callers, and hostile bodies: `npm
 * run battery`. With `--without-mends`, each attack runs against a program without its protection and must do harm;
 * `--only` then selects attacks, and `--seconds` applies to each attack. Exits with 1 when a guarantee was violated.
 */
const values = readOptions({
  command: "npm run battery --",
  does: "Runs gateways under load while things fail at random, and compares all records afterwards.",
  options: {
    seconds: { type: "string", value: "N", help: "the whole time; of each attack with --without-mends" },
    only: { type: "string", value: "NAME,…", help: "these runs alone; attacks with --without-mends" },
    seed: { type: "string", value: "N", help: "repeats the run that printed this seed" },
    "without-mends": {
      type: "boolean",
      help: "takes out the protection against each attack, which must then hurt",
    },
  },
});

interface Row {
  name: string;
  seconds: number;
  what: string;
  violations: readonly string[];
}

type Run = (seconds: number, seed: number) => Promise<Omit<Row, "name" | "seconds">>;

/** Runs with a duration of their own, which `--seconds` can only shorten. Other runs share the total time. */
const OWN_TIME: ReadonlySet<string> = new Set(["crowd", "fuzz"]);
const BODIES_PER_SECOND = 400;

/** Runs besides the mixes. Each run measures one guarantee for longer than the test suite does. */
const FIGURES: Record<string, Run> = {
  crowd: async () => {
    const each = Math.min(CROWD_SECONDS, Number(values.seconds ?? CROWD_SECONDS));
    const code = await runCrowd(["--seconds", String(each)]);
    return verdict(code === CROWD_EXIT.unhurt);
  },
  async fuzz(_, seed) {
    const wanted = values.seconds === undefined ? FUZZ_BODIES : Number(values.seconds) * BODIES_PER_SECOND;
    const { violations, ...figures } = await fuzz(Math.min(FUZZ_BODIES, wanted), seed);
    return { what: JSON.stringify(figures), violations };
  },
  kills: async (seconds, seed) =>
    verdict(await killUnderLoad(Math.max(6, Math.round(seconds / 3)), seeded(seed))),
  images: async () => ({ what: "memory of the largest image calls", violations: await measureLargest() }),
  jobs: (seconds, seed) => killJobsFor(seconds, seed),
  "jobs-postgres": async (seconds, seed) => {
    const { folder } = required(findPostgres());
    const postgres = await startPostgres(folder);
    try {
      return await killJobsFor(seconds, seed, { DATABASE_URL: await postgres.createDatabase() });
    } finally {
      await postgres.stop();
    }
  },
  pictures: readCorpus,
  model: async (seconds, seed) => verdict(await compareWithModel(Math.round(seconds * 2_000), seed)),
  outages: async (seconds) => {
    const { folder } = required(findPostgres());
    const each = Math.max(2, seconds / 2 - 8);
    return verdict((await outlast("stopped", each, folder)) && (await outlast("frozen", each, folder)));
  },
  async rounds(seconds, seed) {
    const { rounds, received, charged, ...lists } = await killRounds(Math.ceil(seconds), seeded(seed));
    const violations = Object.entries(lists).flatMap(([name, ids]) => ids.map((id) => `${id} is ${name}`));
    return { what: `${rounds} kills, ${received} received, ${charged} charged`, violations };
  },
};

/** Kills a process about once per second. */
async function killJobsFor(seconds: number, seed: number, env: Record<string, string> = {}) {
  const report = await killJobs(Math.ceil(seconds), seeded(seed), env);
  const { held, difference, orphanCost, lost, stuck, mischarged, repeated, invented, ...counts } = report;
  const lists = Object.entries({ lost, stuck, mischarged, repeated, invented });
  const violations = lists.flatMap(([name, ids]) => ids.map((id) => `${id} is ${name}`));
  if (held !== 0n) violations.push(`${held} nano-units are still held`);
  if (difference !== 0n) violations.push(`ledger and budget differ by ${difference} nano-units`);
  return { what: `${JSON.stringify(counts)}, orphan_cost ${orphanCost} nano-units`, violations };
}

const RUNS = new Map<string, Run>([
  ...MIXES.map((mix): [string, Run] => [
    mix.name,
    async (seconds, seed) => {
      const { requests, whole, faults, violations } = await runMix(mix, seconds, seed);
      return { what: `${requests} requests, ${whole} whole, ${countText(faults)}`, violations };
    },
  ]),
  ...Object.entries(FIGURES),
]);

const DEFAULT_SECONDS = 480;
/** Time that each run needs to start its processes and to compare records at the end. */
const OVERHEAD_SECONDS = 12;
const MIN_SECONDS = 5;
const MAX_NAMED = 15;

if (values["without-mends"] === true) {
  const isKept = await runWithoutMends(values.only?.split(","), Number(values.seconds ?? UNMENDED_SECONDS));
  process.exit(isKept ? 0 : 1);
}

const names = values.only?.split(",") ?? [...RUNS.keys()];
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const sharing = names.filter((name) => !OWN_TIME.has(name)).length;
const seconds = Number(values.seconds ?? DEFAULT_SECONDS) / Math.max(1, sharing) - OVERHEAD_SECONDS;
console.log(`seed ${seed}, ${navigator.hardwareConcurrency} cores`);
const rows: Row[] = [];
for (const name of names) {
  const run = RUNS.get(name);
  if (!run) throw new Error(`there is no ${name}; there are ${[...RUNS.keys()].join(", ")}`);
  const startedAt = performance.now();
  const result = await run(Math.max(MIN_SECONDS, seconds), seed).catch((error: unknown) => ({
    what: "did not end",
    violations: [error instanceof Error ? (error.stack ?? error.message) : String(error)],
  }));
  const row = { ...result, name, seconds: (performance.now() - startedAt) / 1_000 };
  rows.push(row);
  console.log(lineOf(row));
  for (const violation of row.violations.slice(0, MAX_NAMED)) console.log(`  ${violation}`);
}
console.log(`\n${rows.map(lineOf).join("\n")}`);
const broken = rows.filter(({ violations }) => violations.length > 0);
console.log(
  broken.length === 0 ? "no violation" : `violations in ${broken.map(({ name }) => name).join(", ")}`,
);
process.exit(broken.length === 0 ? 0 : 1);

function lineOf({ name, what, violations, ...row }: Row): string {
  const verdictText = violations.length === 0 ? "ok" : `${violations.length} VIOLATIONS`;
  return `${name.padEnd(18)} ${row.seconds.toFixed(0).padStart(4)} s  ${verdictText.padEnd(14)} ${what}`;
}

function verdict(isKept: boolean): Omit<Row, "name" | "seconds"> {
  return { what: "figures above", violations: isKept ? [] : ["a figure above is not met"] };
}

function countText(faults: readonly string[]): string {
  const groups = Map.groupBy(faults, (name) => name);
  return [...groups].map(([name, all]) => (all.length > 1 ? `${all.length} × ${name}` : name)).join(", ");
}
