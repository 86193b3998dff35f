/**
 * Puts faults into copies of the program, one at a time in each copy: `npm run mutation`. A test must fail for each
 * fault. Exits with 1 when none fails, when a fault's text does not occur exactly once, or when its tests also fail
 * without the fault.
 */
import { readFile, rm, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { readOptions } from "../support/program-options.ts";
import { copyTree, countInFile, ROOT } from "../support/tree-copy.ts";
import type { Fault } from "./fault.ts";
import { ALL_FAULTS } from "./faults/index.ts";
import { runTests } from "./run-tests.ts";

/** Time limit for a test file without a fault. */
const BASELINE_LIMIT_MS = 180_000;
/** Time limit of a test file with a fault. `FAULT_LIMIT_FACTOR` times the file's own duration is added. */
const FAULT_LIMIT_MS = 60_000;
const FAULT_LIMIT_FACTOR = 2;

/** The result for one fault. Only `killed` is good. */
interface Outcome {
  fault: Fault;
  result: "killed" | "SURVIVED" | "BROKEN";
  seconds: number;
  /** The first failed test, or the reason why the run failed. */
  detail: string;
}

/** Seconds of each test file without a fault; null if the file fails. */
type Baseline = ReadonlyMap<string, number | null>;

await main();

async function main(): Promise<void> {
  const values = readOptions({
    command: "npm run mutation --",
    does: "Puts each fault into a copy of the program and expects its tests to fail.",
    options: {
      only: { type: "string", value: "NAME", help: "this fault alone", multiple: true },
      list: { type: "boolean", help: "print the faults" },
      jobs: {
        type: "string",
        value: "N",
        help: "faults at the same time",
        default: String(availableParallelism()),
      },
    },
  });
  const chosen = values.only ? ALL_FAULTS.filter(({ name }) => values.only?.includes(name)) : ALL_FAULTS;
  const jobs = Number(values.jobs);
  const wrong = [...(await problemsOf(ALL_FAULTS)), ...unknownNames(values.only ?? [])];
  if (!Number.isInteger(jobs) || jobs < 1) wrong.push("--jobs takes a number from 1");
  for (const problem of wrong) console.log(problem);
  if (wrong.length > 0) process.exit(1);
  if (values.list) return list(chosen);
  const copies = await Promise.all(Array.from({ length: jobs }, copyTree));
  try {
    process.exitCode = await tryFaults(copies, chosen);
  } finally {
    await Promise.all(copies.map((copy) => rm(copy, { recursive: true, force: true })));
  }
}

function list(faults: readonly Fault[]): void {
  for (const { name, file, tests } of faults) console.log(`${name}\n    ${file}\n    ${tests.join(" ")}`);
  console.log(`${faults.length} faults`);
}

/** Returns a sentence for each mistake in the list of faults. */
async function problemsOf(faults: readonly Fault[]): Promise<string[]> {
  const problems: string[] = [];
  const names = new Set<string>();
  for (const { name, file, find, replace, tests } of faults) {
    if (names.has(name)) problems.push(`${name}: two faults have this name`);
    names.add(name);
    const count = await countInFile(file, find);
    if (count !== 1) problems.push(`STALE    ${name}: found ${count} times in ${file}: ${find}`);
    if (find === replace) problems.push(`${name}: changes nothing`);
    for (const path of tests)
      if (!(await Bun.file(join(ROOT, path)).exists())) problems.push(`${name}: there is no ${path}`);
  }
  return problems;
}

function unknownNames(only: readonly string[]): string[] {
  return only
    .filter((wanted) => !ALL_FAULTS.some(({ name }) => name === wanted))
    .map((name) => `${name}: there is no fault of this name; --list shows all`);
}

/** Tries all faults and prints the table. Returns the exit code. */
async function tryFaults(copies: readonly string[], faults: readonly Fault[]): Promise<number> {
  const startedAt = performance.now();
  const baseline = await measure(copies, faults);
  const outcomes: Outcome[] = [];
  await inAll(copies, faults, async (copy, fault) => {
    const outcome = await tryFault(copy, fault, baseline);
    console.log(rowOf(outcome));
    outcomes.push(outcome);
  });
  const countOf = (wanted: Outcome["result"]) => outcomes.filter(({ result }) => result === wanted).length;
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  console.log(
    `\n${outcomes.length} faults: ${countOf("killed")} killed, ${countOf("SURVIVED")} survived, ` +
      `${countOf("BROKEN")} broken, 0 stale, in ${seconds} s`,
  );
  const bad = outcomes.filter(({ result }) => result !== "killed");
  for (const outcome of bad) console.log(rowOf(outcome));
  return bad.length === 0 ? 0 : 1;
}

/** Runs the faults' test files without a fault. A file that fails is run once more. */
async function measure(copies: readonly string[], faults: readonly Fault[]): Promise<Baseline> {
  const baseline = new Map<string, number | null>();
  const files = [...new Set(faults.flatMap(({ tests }) => tests))].toSorted();
  await inAll(copies, files, async (copy, file) => {
    let run = await runTests(copy, file, BASELINE_LIMIT_MS);
    if (!run.hasPassed) run = await runTests(copy, file, BASELINE_LIMIT_MS);
    baseline.set(file, run.hasPassed ? run.seconds : null);
    if (!run.hasPassed) console.log(`${file} fails without a fault: ${run.failed ?? ""}\n${run.tail}`);
  });
  return baseline;
}

/** Distributes items over the copies. Each copy takes the next item when it is free. */
async function inAll<Item>(
  copies: readonly string[],
  items: readonly Item[],
  work: (copy: string, item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  await Promise.all(
    copies.map(async (copy) => {
      for (const item of waiting) await work(copy, item);
    }),
  );
}

/** Runs the fault's tests until one fails, beginning with the fastest file. */
async function tryFault(copy: string, fault: Fault, baseline: Baseline): Promise<Outcome> {
  const failing = fault.tests.find((file) => (baseline.get(file) ?? null) === null);
  if (failing) return { fault, result: "BROKEN", seconds: 0, detail: `${failing} fails without it` };
  const path = join(copy, fault.file);
  const original = await readFile(path, "utf8");
  // The replacement is a function, because a replacement text would interpret `$`.
  await writeFile(
    path,
    original.replace(fault.find, () => fault.replace),
  );
  let seconds = 0;
  const secondsOf = (file: string) => baseline.get(file) ?? 0;
  try {
    for (const file of fault.tests.toSorted((one, other) => secondsOf(one) - secondsOf(other))) {
      const limitMs = FAULT_LIMIT_MS + FAULT_LIMIT_FACTOR * secondsOf(file) * 1000;
      const run = await runTests(copy, file, limitMs);
      seconds += run.seconds;
      if (run.hasPassed) continue;
      if (run.isLate) return { fault, result: "killed", seconds, detail: `${file} did not end` };
      // If the program cannot be loaded, the fault proves nothing.
      if (run.failed === null) return { fault, result: "BROKEN", seconds, detail: "no test ran" };
      return { fault, result: "killed", seconds, detail: run.failed };
    }
    return { fault, result: "SURVIVED", seconds, detail: fault.tests.join(" ") };
  } finally {
    await writeFile(path, original);
  }
}

function rowOf({ fault, result, seconds, detail }: Outcome): string {
  return `${result.padEnd(9)}${seconds.toFixed(1).padStart(5)} s  ${fault.name.padEnd(62)}  ${detail}`;
}
