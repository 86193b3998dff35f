/**
 * Measures the gateway and the baseline servers (floors) on this machine, and prints one table: `npm run bench`. A
 * missed bar is only reported. The run fails if a response that is compared with the upstream's differs.
 */
import { readOptions } from "../test/support/program-options.ts";
import { describeRun, renderRows } from "./report.ts";
import { readResidentMb, watchOtherWork } from "./machine.ts";
import { type BenchOptions, openStage, type Stage } from "./stage.ts";
import { entranceWorkload } from "./workloads/w0-entrance.ts";
import { chatWorkload } from "./workloads/w1-chat.ts";
import { streamWorkload } from "./workloads/w2-stream.ts";
import { slowStreamsWorkload } from "./workloads/w3-slow-streams.ts";
import { promptWorkload } from "./workloads/w4-prompts.ts";
import { uploadWorkload } from "./workloads/w5-uploads.ts";
import { responseWorkload } from "./workloads/w6-responses.ts";
import { jobsWorkload } from "./workloads/w7-jobs.ts";
import { failoverWorkload } from "./workloads/w8-failover.ts";
import { manyKeysWorkload } from "./workloads/w9-keys.ts";
import { ledgerWorkload } from "./workloads/w11-ledger.ts";
import { workersWorkload } from "./workloads/w12-workers.ts";
import { telemetryWorkload } from "./workloads/w13-telemetry.ts";
import type { Outcome, Workload } from "./workloads/workload.ts";

/** Every workload, in the order of the runs. */
const WORKLOADS: readonly Workload[] = [
  entranceWorkload,
  chatWorkload,
  streamWorkload,
  slowStreamsWorkload,
  promptWorkload,
  uploadWorkload,
  responseWorkload,
  jobsWorkload,
  failoverWorkload,
  manyKeysWorkload,
  ledgerWorkload,
  workersWorkload,
  telemetryWorkload,
];

const BUSY_LOAD_SHARE = 0.7;
const BUSY_MACHINE_SHARE = 0.25;

const { options, chosen } = chooseRun();
if (process.platform !== "linux") {
  console.error("The benchmark reads processor time from /proc and runs on Linux only.");
  process.exit(1);
}
const stage = await openStage(options);
try {
  console.log(describeRun(stage));
  await runAll(stage, chosen);
} finally {
  await stage.close();
}
process.exit(0);

async function runAll(stage: Stage, workloads: readonly Workload[]): Promise<void> {
  const outcomes: Outcome[] = [];
  const residentBefore = residentMemory(stage);
  const otherShare = watchOtherWork(
    [stage.mock, stage.bareBun, stage.bareBuffer, stage.gateway].map((server) => server.processId),
  );
  for (const workload of workloads) {
    console.log(`${workload.id}: ${workload.title} ...`);
    outcomes.push(await workload.run(stage));
  }
  const rows = outcomes.flatMap((outcome) => outcome.rows);
  console.log(`\n${renderRows(rows)}\n`);
  const residentAfter = residentMemory(stage);
  for (const [name, before] of Object.entries(residentBefore)) {
    console.log(`resident memory of ${name}: ${before} MB before, ${residentAfter[name]} MB after`);
  }
  reportConditions(outcomes, otherShare());
  const missed = rows.filter((row) => row.passed === false).length;
  console.log(missed === 0 ? "Every bar is met." : `${missed} of the bars are missed.`);
}

/**
 * Prints how busy the machine was, and conditions that make the figures doubtful: a busy load generator, empty windows,
 * failed requests, other work.
 */
function reportConditions(outcomes: readonly Outcome[], otherShare: number): void {
  const latencies = outcomes.flatMap((outcome) => outcome.latencySamples);
  const all = outcomes.flatMap((outcome) => [...outcome.cpuSamples, ...outcome.latencySamples]);
  const loadShare = Math.max(0, ...latencies.map((sample) => sample.loadShare));
  const failed = all.reduce((sum, sample) => sum + sample.failed, 0);
  const emptyWindows = all.reduce((sum, sample) => sum + sample.emptyWindows, 0);
  console.log(`mock and load: at most ${percent(loadShare)} of their core while latency was measured`);
  console.log(`other work on the machine: ${percent(otherShare)} of a core on average`);
  if (loadShare > BUSY_LOAD_SHARE)
    console.log(`DOUBTFUL: mock and load were over ${percent(BUSY_LOAD_SHARE)}.`);
  if (otherShare > BUSY_MACHINE_SHARE)
    console.log("DOUBTFUL: latencies and W2, for the machine had other work.");
  if (emptyWindows > 0)
    console.log(`DOUBTFUL: ${emptyWindows} windows had no answer at all and were run again.`);
  if (failed > 0) console.log(`DOUBTFUL: ${failed} requests failed or were answered with another status.`);
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function residentMemory(stage: Stage): Record<string, number> {
  const servers = [stage.bareBun, stage.bareBuffer, stage.gateway];
  return Object.fromEntries(
    servers.map((server) => [server.name, Math.round(readResidentMb(server.processId))]),
  );
}

function chooseRun(): { options: BenchOptions; chosen: readonly Workload[] } {
  const known = WORKLOADS.map(({ id }) => id).join(", ");
  const values = readOptions({
    command: "npm run bench --",
    does: "Measures the gateway beside what it adds to.",
    options: {
      rounds: { type: "string", value: "N", help: "of each workload", default: "5" },
      seconds: { type: "string", value: "N", help: "of each measurement", default: "1.2" },
      only: { type: "string", value: "ID", help: `one workload: ${known}` },
      profile: { type: "string", value: "DIR", help: "folder for profiles of the processor" },
    },
  });
  const rounds = Number(values.rounds);
  const seconds = Number(values.seconds);
  const chosen = WORKLOADS.filter(({ id }) => values.only === undefined || id === values.only.toUpperCase());
  if (!(rounds >= 1 && seconds > 0 && chosen.length > 0)) {
    console.error("npm run bench -- --help prints the options");
    process.exit(2);
  }
  return { options: { rounds, seconds, profileFolder: values.profile }, chosen };
}
