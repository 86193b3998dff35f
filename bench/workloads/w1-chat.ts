import { chatRequestBody, PUBLIC_MODEL, UPSTREAM_MODEL } from "../chat-samples.ts";
import { exchange, wireRequest } from "../client-connection.ts";
import { assertSameReply } from "../equivalence.ts";
import { type LoadPlan, startClosedLoop, startOpenLoop } from "../load.ts";
import { interleave, measure, warmUp } from "../measure.ts";
import type { ServerProcess } from "../processes.ts";
import { addedRow, ratioRow } from "../report.ts";
import type { Stage } from "../stage.ts";
import { percentile, spreadOf } from "../statistics.ts";
import { addedOver, compareRounds, cpuPerRequest, type Workload } from "./workload.ts";

const CONNECTIONS = 64;
/** This rate does not saturate the load's core. */
const HIGHEST_RATE = 5_000;
const CPU_BAR = 1.35;
const ADDED_P50_BAR_MS = 0.25;
const ADDED_P99_BAR_MS = 0.6;

/** Chat with 1 KB in each direction: processor time at capacity, and added latency at half of the capacity or less. */
export const chatWorkload: Workload = {
  id: "W1",
  title: "chat, 1 KB to 1 KB",
  async run(stage) {
    await checkChat(stage);
    const cpuRounds = await measureCpu(stage);
    const capacity = spreadOf(cpuRounds.map(({ gateway }) => (gateway.completed * 1000) / gateway.elapsedMs));
    const rate = Math.round(Math.min(capacity.median / 2, HIGHEST_RATE));
    const latencyRounds = await measureLatency(stage, rate);
    const overBuffer = cpuRounds.map(({ buffer, gateway }) => ({ floor: buffer, gateway }));
    const added = (share: number) =>
      addedOver(latencyRounds, (sample) => percentile(sample.latenciesMs, share));
    const atRate = `at ${rate}/s`;
    return {
      cpuSamples: cpuRounds.flatMap((round) => Object.values(round)),
      latencySamples: latencyRounds.flatMap((round) => Object.values(round)),
      rows: [
        ratioRow(
          { workload: "W1", figure: "CPU per request, over bare-bun" },
          { ...compareRounds(cpuRounds, cpuPerRequest), unit: "us", bar: CPU_BAR },
        ),
        ratioRow(
          { workload: "W1", figure: "CPU per request, over bare-buffer" },
          { ...compareRounds(overBuffer, cpuPerRequest), unit: "us" },
        ),
        addedRow(
          { workload: "W1", figure: `added p50 ${atRate}` },
          { ...added(0.5), barMs: ADDED_P50_BAR_MS },
        ),
        addedRow(
          { workload: "W1", figure: `added p99 ${atRate}` },
          { ...added(0.99), barMs: ADDED_P99_BAR_MS },
        ),
      ],
    };
  },
};

/** Returns the load for a server. The gateway gets the public model name, other servers the upstream's name. */
export function chatPlan(stage: Stage, server: ServerProcess, bytes?: number): LoadPlan {
  const isGateway = server === stage.gateway;
  const body = chatRequestBody({ model: isGateway ? PUBLIC_MODEL : UPSTREAM_MODEL, bytes });
  const path = "/v1/chat/completions";
  const request = wireRequest({ method: "POST", path, key: stage.gateway.key, body });
  return { address: server.address, requests: [request], expectedStatus: 200 };
}

export async function checkChat(stage: Stage, bytes?: number): Promise<void> {
  const reply = (server: ServerProcess) => {
    const plan = chatPlan(stage, server, bytes);
    return exchange(plan.address, plan.requests[0]!);
  };
  const floor = await reply(stage.bareBun);
  assertSameReply(floor, await reply(stage.gateway));
}

async function measureCpu(stage: Stage) {
  const window = { warmUpMs: 300, durationMs: stage.options.seconds * 1000 };
  const start = (server: ServerProcess) => () =>
    startClosedLoop({ ...chatPlan(stage, server), connections: CONNECTIONS });
  const turn = (server: ServerProcess) => () =>
    measure({ measured: server, mock: stage.mock }, start(server), window);
  for (const server of [stage.bareBun, stage.bareBuffer, stage.gateway]) await warmUp(server, start(server));
  return interleave(stage.options.rounds, {
    floor: turn(stage.bareBun),
    gateway: turn(stage.gateway),
    buffer: turn(stage.bareBuffer),
  });
}

function measureLatency(stage: Stage, requestsPerSecond: number) {
  const window = { warmUpMs: 300, durationMs: stage.options.seconds * 1000 };
  const turn = (server: ServerProcess) => () =>
    measure(
      { measured: server, mock: stage.mock },
      () =>
        startOpenLoop({
          ...chatPlan(stage, server),
          machine: stage.machine,
          requestsPerSecond,
          connections: CONNECTIONS,
        }),
      window,
    );
  return interleave(stage.options.rounds, {
    direct: turn(stage.mock),
    floor: turn(stage.bareBun),
    gateway: turn(stage.gateway),
  });
}
