/**
 * Puts faults into a copy of the program, one at a time, and proves for each that a test fails. As a program:
 * `bun test/mutation/run.ts [--list] [--only NAME]...`. Exits with 1 when a fault survives, when the place of one is
 * no longer found exactly once, or when its tests fail without it.
 */
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { copyTree, countInFile, endGroup, ROOT } from "../support/tree-copy.ts";
import type { Fault } from "./fault.ts";
import { CHAT_FAULTS } from "./faults/chat.ts";
import { DATABASE_FAULTS } from "./faults/database.ts";
import { END_TO_END_FAULTS } from "./faults/end-to-end.ts";
import { HTTP_CLIENT_FAULTS } from "./faults/http-client.ts";
import { JOB_FAULTS } from "./faults/jobs.ts";
import { JOURNAL_FAULTS } from "./faults/journal.ts";
import { LIMIT_FAULTS } from "./faults/limits.ts";
import { MESSAGES_FAULTS } from "./faults/messages.ts";
import { METERING_FAULTS } from "./faults/metering.ts";
import { PRICE_FAULTS } from "./faults/prices.ts";
import { REQUEST_FAULTS } from "./faults/requests.ts";
import { RESPONSES_FAULTS } from "./faults/responses.ts";
import { ROUTING_FAULTS } from "./faults/routing.ts";
import { STORE_FAULTS } from "./faults/stores.ts";

/** Faults tried at the same time, each in a copy of its own. */
const LANES = 2;
/** A run of a fault's tests that takes longer is ended; tests that hang have noticed the fault. */
const FAULT_LIMIT_MS = 90_000;
/** All tests of the chosen faults, without a fault. */
const BASELINE_LIMIT_MS = 300_000;

const ALL = [
  ...METERING_FAULTS,
  ...PRICE_FAULTS,
  ...REQUEST_FAULTS,
  ...CHAT_FAULTS,
  ...MESSAGES_FAULTS,
  ...RESPONSES_FAULTS,
  ...ROUTING_FAULTS,
  ...LIMIT_FAULTS,
  ...HTTP_CLIENT_FAULTS,
  ...JOURNAL_FAULTS,
  ...JOB_FAULTS,
  ...STORE_FAULTS,
  ...DATABASE_FAULTS,
  ...END_TO_END_FAULTS,
];

/** What became of one fault; only `killed` is as it should be. */
interface Outcome {
  fault: Fault;
  result: "killed" | "SURVIVED" | "BROKEN";
  seconds: number;
  /** The first test that failed, or what is wrong. */
  detail: string;
}

await main();

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { only: { type: "string", multiple: true }, list: { type: "boolean" } },
  });
  const chosen = values.only ? ALL.filter(({ name }) => values.only?.includes(name)) : ALL;
  const wrong = [...(await problemsOf(ALL)), ...unknownNames(values.only ?? [])];
  for (const problem of wrong) console.log(problem);
  if (wrong.length > 0) process.exit(1);
  if (values.list) return list(chosen);
  const copies = await Promise.all(Array.from({ length: LANES }, copyTree));
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

/** What is wrong with the table itself. */
async function problemsOf(faults: readonly Fault[]): Promise<string[]> {
  const problems: string[] = [];
  const names = new Set<string>();
  for (const { name, file, find, replace, tests } of faults) {
    if (names.has(name)) problems.push(`${name}: two faults have this name`);
    names.add(name);
    const count = await countInFile(file, find);
    if (count !== 1) problems.push(`${name}: found ${count} times in ${file}: ${find}`);
    if (find === replace) problems.push(`${name}: changes nothing`);
    for (const path of tests)
      if (!(await Bun.file(join(ROOT, path)).exists())) problems.push(`${name}: there is no ${path}`);
  }
  return problems;
}

function unknownNames(only: readonly string[]): string[] {
  return only
    .filter((wanted) => !ALL.some(({ name }) => name === wanted))
    .map((name) => `${name}: there is no fault of this name; --list shows all`);
}

/** Tries all faults and prints the table. Returns the exit code. */
async function tryFaults(copies: readonly string[], faults: readonly Fault[]): Promise<number> {
  const [first = ""] = copies;
  const baseline = await runTests(first, testsOf(faults), BASELINE_LIMIT_MS);
  if (baseline.code !== 0) {
    console.log(`The tests fail without a fault: ${baseline.failed ?? "see their output"}\n${baseline.tail}`);
    return 1;
  }
  const waiting = [...faults];
  const outcomes: Outcome[] = [];
  const work = async (copy: string): Promise<void> => {
    for (let fault = waiting.shift(); fault; fault = waiting.shift()) {
      const outcome = await tryFault(copy, fault);
      console.log(rowOf(outcome));
      outcomes.push(outcome);
    }
  };
  await Promise.all(copies.map(work));
  const bad = outcomes.filter(({ result }) => result !== "killed");
  console.log(`\n${outcomes.length} faults, ${outcomes.length - bad.length} killed`);
  for (const outcome of bad) console.log(rowOf(outcome));
  return bad.length === 0 ? 0 : 1;
}

function testsOf(faults: readonly Fault[]): string[] {
  return [...new Set(faults.flatMap(({ tests }) => tests))].toSorted();
}

async function tryFault(copy: string, fault: Fault): Promise<Outcome> {
  const path = join(copy, fault.file);
  const original = await readFile(path, "utf8");
  const startedAt = performance.now();
  // A replacement with `$` is no pattern.
  await writeFile(
    path,
    original.replace(fault.find, () => fault.replace),
  );
  try {
    const { code, failed, isLate } = await runTests(copy, fault.tests, FAULT_LIMIT_MS);
    const seconds = (performance.now() - startedAt) / 1000;
    if (code === 0) return { fault, result: "SURVIVED", seconds, detail: fault.tests.join(" ") };
    if (isLate) return { fault, result: "killed", seconds, detail: "the tests did not end" };
    // A program that does not even load proves nothing about a promise.
    if (failed === null) return { fault, result: "BROKEN", seconds, detail: "no test ran" };
    return { fault, result: "killed", seconds, detail: failed };
  } finally {
    await writeFile(path, original);
  }
}

interface TestRun {
  code: number;
  /** The title of the first test that failed. */
  failed: string | null;
  isLate: boolean;
  /** The end of the output. */
  tail: string;
}

/** Runs test files up to the first failure. What does not end in time is killed with all that it started. */
async function runTests(copy: string, tests: readonly string[], limitMs: number): Promise<TestRun> {
  const started = Bun.spawn(
    [process.execPath, "test", "--bail", "--timeout", "30000", ...tests.map((path) => `./${path}`)],
    {
      cwd: copy,
      env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: "65000" },
      stdio: ["ignore", "pipe", "pipe"],
      // A process group of its own, so that servers which a test started end with it.
      detached: true,
    },
  );
  let isLate = false;
  const limit = setTimeout(() => {
    isLate = true;
    endGroup(started.pid);
  }, limitMs);
  const output = Promise.all([new Response(started.stdout).text(), new Response(started.stderr).text()]);
  const code = await started.exited;
  clearTimeout(limit);
  endGroup(started.pid);
  const text = (await output).join("");
  const failed = /^\(fail\) (.*?)(?: \[[\d.]+m?s\])?$/m.exec(text)?.[1] ?? null;
  return { code, failed, isLate, tail: text.slice(-2000) };
}

function rowOf({ fault, result, seconds, detail }: Outcome): string {
  return `${result.padEnd(9)}${seconds.toFixed(1).padStart(5)} s  ${fault.name.padEnd(62)}  ${detail}`;
}
