import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { exchange, wireRequest } from "../client-connection.ts";
import { type Gateway, launchGateway } from "../gateway.ts";
import { startClosedLoop, startOpenLoop } from "../load.ts";
import { SERVER_CORE } from "../machine.ts";
import { interleave, measure, type Sample, warmUp } from "../measure.ts";
import { type ServerProcess, startScript } from "../processes.ts";
import type { Row } from "../report.ts";
import type { Stage } from "../stage.ts";
import type { StaticReplies } from "../static-reply.ts";
import { percentile, spreadOf } from "../statistics.ts";
import { IMAGE_MODEL } from "./w5-samples.ts";
import { databaseKinds, type DatabaseKind } from "./w7-databases.ts";
import { cpuPerRequest, type Outcome, type Workload } from "./workload.ts";

const LIVE_JOBS = 10_000;
const POLLS_PER_SECOND = 2_500;
const POLL_CONNECTIONS = 64;
const POLL_BAR_MS = 2;
const SUBMIT_CONNECTIONS = 32;
/** Number of pick-ups. A single slow job must not determine the 99th percentile. */
const PICK_UPS = 300;
const WARM_UP_PICK_UPS = 20;
const PICK_UP_BAR_MS = 20;

/** Jobs: polls while many jobs are unfinished, submissions compared with durable commits, and the wait for a worker. */
export const jobsWorkload: Workload = {
  id: "W7",
  title: "asynchronous jobs",
  async run(stage) {
    const kinds = databaseKinds();
    const outcome: Outcome = { rows: [], cpuSamples: [], latencySamples: [] };
    try {
      for (const kind of kinds) {
        const { rows, cpuSamples, latencySamples } = await measureOn(stage, kind);
        outcome.rows.push(...rows.map((row) => ({ ...row, figure: `${kind.name}: ${row.figure}` })));
        outcome.cpuSamples.push(...cpuSamples);
        outcome.latencySamples.push(...latencySamples);
      }
    } finally {
      for (const kind of kinds) await kind.stop();
    }
    return outcome;
  },
};

async function measureOn(stage: Stage, kind: DatabaseKind): Promise<Outcome> {
  const upstream = `http://${stage.mock.address.hostname}:${stage.mock.address.port}`;
  const databaseUrl = await kind.create();
  // This gateway runs no jobs. Therefore jobs stay unfinished, and their work is not measured with the submissions.
  const gateway = await launchGateway(stage.machine, upstream, stage.options.profileFolder, {
    configuration: {
      jobs: { concurrency: 0 },
      limits: { default: UNLIMITED, key: { concurrent_images: null } },
    },
    databaseUrl,
    fill,
  });
  try {
    const polls = await measurePolls(stage, gateway);
    const commits = await measureCommits(stage, gateway, kind);
    const pickUps = await measurePickUps(stage, upstream, await kind.create());
    return {
      rows: [pollRow(polls), submitRow(commits), pickUpRow(pickUps)],
      cpuSamples: commits.map(({ submits }) => submits),
      latencySamples: polls.map((round) => round.polls),
    };
  } finally {
    await gateway.stop();
  }
}

const UNLIMITED = {
  requests_per_minute: null,
  tokens_per_minute: null,
  images_per_minute: null,
  queued_jobs: null,
  running_jobs: null,
};

function idOf(index: number): string {
  return `job_bench${String(index).padStart(6, "0")}`;
}

/** Writes the rows of jobs that seem to run at another worker. */
async function fill(location: string): Promise<void> {
  const sql = new SQL(location.includes("://") ? location : `sqlite://${location}`, { max: 1 });
  await sql.unsafe(
    `WITH RECURSIVE live(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM live WHERE n < ${LIVE_JOBS - 1}),
       named AS (SELECT 'job_bench' || substr(CAST(1000000 + n AS TEXT), 2) AS id, ${Date.now()} - n AS at FROM live)
     INSERT INTO jobs (id, organization_id, key_id, request_id, model, status, stage, typical_ms, created_at, deadline_at,
       claimed_at, started_at, fence, worker, lease_until, is_cancel_requested, outputs)
     SELECT id, 'default', 'key_bench', id, '${IMAGE_MODEL}', 'in_progress', 20, 25000, at, 9000000000000000,
       at, at, 1, 'proc_bench', 9000000000000000, 0, '[]' FROM named`,
  );
  await sql.close();
}

/** One round of polls. The baseline server (floor) sends the gateway's bytes without the gateway's work. */
interface PollRound {
  floor: Sample;
  polls: Sample;
}

async function measurePolls(stage: Stage, gateway: Gateway): Promise<PollRound[]> {
  const requests = Array.from({ length: LIVE_JOBS }, (_, index) =>
    wireRequest({ method: "GET", path: `/api/jobs/${idOf((index * 7919) % LIVE_JOBS)}`, key: gateway.key }),
  );
  const plan = {
    address: gateway.address,
    requests,
    expectedStatus: 200,
    machine: stage.machine,
    requestsPerSecond: POLLS_PER_SECOND,
    connections: POLL_CONNECTIONS,
  };
  const { body } = await exchange(gateway.address, requests[0] ?? Buffer.alloc(0));
  const folder = mkdtempSync(join(tmpdir(), "bench-polls-"));
  const repliesPath = join(folder, "replies.json");
  await Bun.write(repliesPath, JSON.stringify({ "/job": { status: 200, body } } satisfies StaticReplies));
  const script = join(import.meta.dir, "../static-reply.ts");
  const floor = await startScript(stage.machine, {
    name: "static-reply",
    core: SERVER_CORE,
    arguments: [script, repliesPath],
  });
  const floorPlan = {
    ...plan,
    address: floor.address,
    requests: [wireRequest({ method: "GET", path: "/job", key: gateway.key })],
  };
  try {
    await warmUp(gateway, () => startClosedLoop(plan));
    await warmUp(floor, () => startClosedLoop(floorPlan));
    return await interleave(stage.options.rounds, {
      floor: () => measurePart(stage, floor, () => startOpenLoop(floorPlan)),
      polls: () => measurePart(stage, gateway, () => startOpenLoop(plan)),
    });
  } finally {
    await floor.stop();
    rmSync(folder, { recursive: true });
  }
}

interface CommitRound {
  /** Raw durable commits per second. */
  commits: number;
  submits: Sample;
}

async function measureCommits(stage: Stage, gateway: Gateway, kind: DatabaseKind): Promise<CommitRound[]> {
  const request = wireRequest({
    method: "POST",
    path: "/api/jobs",
    key: gateway.key,
    body: JSON.stringify({ model: IMAGE_MODEL, prompt: "a lighthouse at dawn" }),
  });
  const plan = {
    address: gateway.address,
    requests: [request],
    expectedStatus: 200,
    connections: SUBMIT_CONNECTIONS,
  };
  await warmUp(gateway, () => startClosedLoop(plan));
  const rounds: CommitRound[] = [];
  for (let round = 0; round < stage.options.rounds; round += 1) {
    const commits = await kind.commitsPerSecond(stage.options.seconds * 1000);
    rounds.push({ commits, submits: await measurePart(stage, gateway, () => startClosedLoop(plan)) });
  }
  return rounds;
}

function measurePart(
  stage: Stage,
  measured: ServerProcess,
  start: Parameters<typeof measure>[1],
): Promise<Sample> {
  const window = { warmUpMs: 300, durationMs: stage.options.seconds * 1000 };
  return measure({ measured, mock: stage.mock }, start, window);
}

/** Returns the milliseconds from each job's submission to its start. The jobs are submitted one after another. */
async function measurePickUps(
  stage: Stage,
  upstream: string,
  databaseUrl: string | undefined,
): Promise<number[]> {
  const configuration = { sandbox: { enabled: true } };
  const gateway = await launchGateway(stage.machine, upstream, undefined, { configuration, databaseUrl });
  try {
    return await pickUpsOf(gateway);
  } finally {
    await gateway.stop();
  }
}

async function pickUpsOf(gateway: Gateway): Promise<number[]> {
  const call = async (method: "GET" | "POST", path: string, fields?: object) => {
    const body = fields && { body: JSON.stringify(fields) };
    const reply = await exchange(gateway.address, wireRequest({ method, path, key: gateway.key, ...body }));
    return JSON.parse(reply.body);
  };
  const taken: number[] = [];
  for (let index = -WARM_UP_PICK_UPS; index < PICK_UPS; index += 1) {
    const { id } = await call("POST", "/api/jobs", { model: "sandbox-d-fast", prompt: "a lighthouse" });
    for (;;) {
      const job = await call("GET", `/api/jobs/${id}`);
      if (job.started_at !== null && job.completed_at !== null) {
        if (index >= 0) taken.push(job.started_at - job.create_time);
        break;
      }
      await Bun.sleep(5);
    }
  }
  return taken;
}

function pollRow(rounds: readonly PollRound[]): Row {
  const samples = rounds.map(({ polls }) => polls);
  const p99Of = ({ latenciesMs }: Sample): number => percentile(latenciesMs, 0.99);
  const floor = spreadOf(rounds.map((round) => p99Of(round.floor)));
  const p99 = spreadOf(samples.map(p99Of));
  const rate = spreadOf(samples.map(({ completed, elapsedMs }) => (completed * 1000) / elapsedMs));
  const cpu = spreadOf(samples.map(cpuPerRequest));
  return {
    workload: "W7",
    figure: `poll ${LIVE_JOBS} live jobs at ${POLLS_PER_SECOND}/s, p99`,
    floor: `${floor.median.toFixed(2)} ms`,
    gateway: `${p99.median.toFixed(2)} ms`,
    comparison: `${p99.min.toFixed(2)} to ${p99.max.toFixed(2)} ms at ${rate.median.toFixed(0)}/s, ${cpu.median.toFixed(0)} us`,
    bar: `<= ${POLL_BAR_MS} ms`,
    passed: p99.median <= POLL_BAR_MS,
  };
}

function submitRow(rounds: readonly CommitRound[]): Row {
  const commits = spreadOf(rounds.map((round) => round.commits));
  const submits = spreadOf(rounds.map(({ submits }) => (submits.completed * 1000) / submits.elapsedMs));
  const ratio = submits.median / commits.median;
  const cpu = spreadOf(rounds.map(({ submits }) => cpuPerRequest(submits)));
  return {
    workload: "W7",
    figure: "submissions against raw durable commits",
    floor: `${commits.median.toFixed(0)}/s`,
    gateway: `${submits.median.toFixed(0)}/s`,
    comparison: `${ratio.toFixed(2)} x, ${cpu.median.toFixed(0)} us`,
    bar: ">= 1 x",
    passed: ratio >= 1,
  };
}

function pickUpRow(taken: readonly number[]): Row {
  const p99 = percentile([...taken], 0.99);
  return {
    workload: "W7",
    figure: "submission to first vendor call, p99",
    floor: "",
    gateway: `${p99.toFixed(0)} ms`,
    comparison: `median ${percentile([...taken], 0.5).toFixed(0)} ms of ${taken.length}`,
    bar: `<= ${PICK_UP_BAR_MS} ms`,
    passed: p99 <= PICK_UP_BAR_MS,
  };
}
