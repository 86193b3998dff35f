import { chatRequestBody, PUBLIC_MODEL, STREAM_FRAMES, UPSTREAM_MODEL } from "../chat-samples.ts";
import { exchange, type Reply, wireRequest } from "../client-connection.ts";
import { assertSameReply, assertCompleteStream } from "../equivalence.ts";
import { type LoadPlan, startClosedLoop } from "../load.ts";
import { interleave, measure, type Sample, warmUp } from "../measure.ts";
import type { ServerProcess } from "../processes.ts";
import { addedRow, ratioRow, type Row } from "../report.ts";
import type { Stage } from "../stage.ts";
import { percentile } from "../statistics.ts";
import { addedOver, compareRounds, type Outcome, type Workload } from "./workload.ts";

/** Numbers of concurrent streams. The intervals between frames are so long that no proxy reads two frames together. */
const GRADES = [
  { streams: 1, paceMs: 1 },
  { streams: 16, paceMs: 1 },
  { streams: 256, paceMs: 16 },
];
/** Minimum number of concurrent streams for a p99. A window with fewer streams has too few first bytes. */
const FEWEST_FOR_P99 = 16;
const FRAME_BAR = 1.2;
const ADDED_FIRST_BYTE_BAR_MS = 0.5;

/**
 * Streams of 100 tokens, each token in its own frame. The mock sets the interval. Without an interval, a slow proxy
 * would read several frames together, which costs less processor time.
 */
export const streamWorkload: Workload = {
  id: "W2",
  title: "chat stream, 100 tokens",
  async run(stage) {
    const lengths = await checkStreams(stage);
    const outcome: Outcome = { rows: [], cpuSamples: [], latencySamples: [] };
    for (const server of [stage.bareBun, stage.gateway])
      await warmUp(server, () => startClosedLoop({ ...streamPlan(stage, server, 0), connections: 16 }));
    for (const grade of GRADES) {
      const rounds = await measureGrade(stage, grade);
      outcome.latencySamples.push(...rounds.flatMap((round) => Object.values(round)));
      outcome.rows.push(...rowsOf(grade.streams, rounds, lengths));
    }
    return outcome;
  },
};

type Rounds = { direct: Sample; floor: Sample; gateway: Sample }[];

/** Body bytes of one complete stream of each server. The lengths differ by the length of the model's name. */
export interface StreamLengths {
  floor: number;
  gateway: number;
}

function rowsOf(streams: number, rounds: Rounds, lengths: StreamLengths): Row[] {
  const at = `${streams} at once`;
  const cpuPerFrame = (sample: Sample, isGateway: boolean) => {
    const frames = (sample.bodyBytes / (isGateway ? lengths.gateway : lengths.floor)) * STREAM_FRAMES;
    return (sample.cpuMs * 1000) / frames;
  };
  const added = (share: number) => addedOver(rounds, (sample) => percentile(sample.firstBytesMs, share));
  const rows = [
    ratioRow(
      { workload: "W2", figure: `CPU per frame, ${at}` },
      { ...compareRounds(rounds, cpuPerFrame), unit: "us", bar: FRAME_BAR },
    ),
    addedRow({ workload: "W2", figure: `added TTFT p50, ${at}` }, added(0.5)),
  ];
  if (streams < FEWEST_FOR_P99) return rows;
  const p99 = { ...added(0.99), barMs: ADDED_FIRST_BYTE_BAR_MS };
  return [...rows, addedRow({ workload: "W2", figure: `added TTFT p99, ${at}` }, p99)];
}

function measureGrade(stage: Stage, grade: (typeof GRADES)[number]) {
  const streamMs = STREAM_FRAMES * grade.paceMs;
  const window = { warmUpMs: streamMs + 200, durationMs: stage.options.seconds * 1000 };
  const turn = (server: ServerProcess) => () =>
    measure(
      { measured: server, mock: stage.mock },
      () =>
        startClosedLoop({
          ...streamPlan(stage, server, grade.paceMs),
          connections: grade.streams,
          spreadMs: streamMs,
        }),
      window,
    );
  return interleave(stage.options.rounds, {
    direct: turn(stage.mock),
    floor: turn(stage.bareBun),
    gateway: turn(stage.gateway),
  });
}

/** Returns the load for a server. Only the gateway adds the usage option itself, so other requests contain it. */
export function streamPlan(stage: Stage, server: ServerProcess, paceMs: number): LoadPlan {
  const isGateway = server === stage.gateway;
  const body = chatRequestBody({
    model: isGateway ? PUBLIC_MODEL : UPSTREAM_MODEL,
    stream: true,
    includeUsage: !isGateway,
    paceMs,
  });
  const path = "/v1/chat/completions";
  const request = wireRequest({ method: "POST", path, key: stage.gateway.key, body });
  return { address: server.address, requests: [request], expectedStatus: 200 };
}

export async function checkStreams(stage: Stage): Promise<StreamLengths> {
  const reply = (server: ServerProcess): Promise<Reply> => {
    const plan = streamPlan(stage, server, 1);
    return exchange(plan.address, plan.requests[0]!);
  };
  const floor = await reply(stage.bareBun);
  const gateway = await reply(stage.gateway);
  assertSameReply(floor, gateway);
  assertCompleteStream(gateway);
  return { floor: floor.body.length, gateway: gateway.body.length };
}
