import { STREAM_FRAMES } from "./chat-samples.ts";
import { exchange } from "./client-connection.ts";
import { type Contender, planOf } from "./contender.ts";
import { assertWhole } from "./equivalence.ts";
import { type Load, startClosedLoop, startOpenLoop } from "./load.ts";
import { readResidentMb, watchOtherWork } from "./machine.ts";
import { interleave, measure, type Sample, warmUp } from "./measure.ts";
import type { Stage } from "./stage.ts";
import { percentile, type Spread, spreadOf } from "./statistics.ts";
import { cpuPerRequest } from "./workloads/workload.ts";

const CONNECTIONS = 64;
const HIGHEST_RATE = 5_000;
const STREAMS = 16;
/** Longer than W2's interval for 16 streams, so that even a slow gateway forwards each frame separately. */
const PACE_MS = 4;

export interface Contest {
  results: Result[];
  /** Requests per second while latency is measured: half of the slowest contender's capacity, 5,000 at most. */
  rate: number;
  /** The largest share of the load's core that mock and load generator used while latency was measured. */
  loadShare: number;
  /** Processor time of other programs on the machine, as a share of one core. */
  otherShare: number;
}

/** Figures of a contender. Ratios are to the first contender, and added times are beyond those of direct calls. */
export interface Result {
  name: string;
  isSameBytes: boolean;
  requestUs: Spread;
  requestRatio: Spread;
  requestsPerSecond: Spread;
  addedP50Ms: Spread;
  addedP99Ms: Spread;
  frameUs: Spread;
  frameRatio: Spread;
  addedFirstByteP99Ms: Spread;
  residentMb: number;
  /** Number of failed requests, without those of the discarded first round. */
  failed: number;
}

type Round = Record<string, Sample>;

/**
 * Measures contenders with the loads of W1 and W2. Throws when the content of a contender's response differs from the
 * mock's.
 */
export async function runContest(
  stage: Stage,
  direct: Contender,
  contenders: readonly Contender[],
): Promise<Contest> {
  const answers = new Map<string, Answer>();
  for (const contender of contenders) answers.set(contender.name, await checkAnswers(direct, contender));
  const otherShare = watchOtherWork(
    [direct, ...contenders].flatMap(({ server }) => [server.processId, ...server.workerIds]),
  );
  const run = (
    those: readonly Contender[],
    warmUpMs: number,
    start: (contender: Contender) => Promise<Load>,
  ) => runInTurns(stage, those, warmUpMs, start);
  const saturate = (contender: Contender) =>
    startClosedLoop({ ...planOf(contender), connections: CONNECTIONS });
  for (const contender of contenders) await warmUp(contender.server, () => saturate(contender));
  const chat = await run(contenders, 300, saturate);
  const capacities = contenders.map(
    ({ name }) => spreadOf(chat.map((round) => perSecond(round[name]!))).median,
  );
  const rate = Math.round(Math.min(...capacities.map((capacity) => capacity / 2), HIGHEST_RATE));
  const steady = await run([direct, ...contenders], 300, (contender) =>
    startOpenLoop({
      ...planOf(contender),
      machine: stage.machine,
      requestsPerSecond: rate,
      connections: CONNECTIONS,
    }),
  );
  const streamMs = STREAM_FRAMES * PACE_MS;
  const streams = await run([direct, ...contenders], streamMs + 200, (contender) =>
    startClosedLoop({ ...planOf(contender, PACE_MS), connections: STREAMS, spreadMs: streamMs }),
  );
  const runs = { chat, steady, streams, direct: direct.name, first: contenders[0]!.name };
  const loadShares = [...steady, ...streams].flatMap((round) =>
    Object.values(round).map((sample) => sample.loadShare),
  );
  return {
    results: contenders.map((contender) => resultOf(contender, answers, runs)),
    rate,
    loadShare: Math.max(...loadShares),
    otherShare: otherShare(),
  };
}

interface Answer {
  isSameBytes: boolean;
  streamBytes: number;
}

async function checkAnswers(direct: Contender, contender: Contender): Promise<Answer> {
  const answerOf = (one: Contender, paceMs?: number) => {
    const plan = planOf(one, paceMs);
    return exchange(plan.address, plan.requests[0]!);
  };
  try {
    const chat = assertWhole(await answerOf(direct), await answerOf(contender));
    const reply = await answerOf(contender, PACE_MS);
    const stream = assertWhole(await answerOf(direct, PACE_MS), reply);
    return {
      isSameBytes: chat.isSameBytes && stream.isSameBytes,
      streamBytes: Buffer.byteLength(reply.body),
    };
  } catch (error) {
    throw new Error(`${contender.name} does not pass on what the mock sends`, { cause: error });
  }
}

function runInTurns(
  stage: Stage,
  contenders: readonly Contender[],
  warmUpMs: number,
  start: (contender: Contender) => Promise<Load>,
): Promise<Round[]> {
  const { rounds, seconds } = stage.options;
  const turns = contenders.map((contender) => [
    contender.name,
    () =>
      measure({ measured: contender.server, mock: stage.mock }, () => start(contender), {
        warmUpMs,
        durationMs: seconds * 1000,
      }),
  ]);
  return interleave(rounds, Object.fromEntries(turns));
}

function resultOf(
  { name, server }: Contender,
  answers: ReadonlyMap<string, Answer>,
  runs: Record<"chat" | "steady" | "streams", Round[]> & Record<"direct" | "first", string>,
): Result {
  const { chat, steady, streams, direct, first } = runs;
  const perFrame = (sample: Sample, of: string): number =>
    (sample.cpuMs * 1000) / ((sample.bodyBytes / answers.get(of)!.streamBytes) * STREAM_FRAMES);
  const added = (rounds: Round[], figure: (sample: Sample) => number) =>
    spreadOf(rounds.map((round) => figure(round[name]!) - figure(round[direct]!)));
  return {
    name,
    isSameBytes: answers.get(name)!.isSameBytes,
    requestUs: spreadOf(chat.map((round) => cpuPerRequest(round[name]!))),
    requestRatio: spreadOf(chat.map((round) => cpuPerRequest(round[name]!) / cpuPerRequest(round[first]!))),
    requestsPerSecond: spreadOf(chat.map((round) => perSecond(round[name]!))),
    addedP50Ms: added(steady, ({ latenciesMs }) => percentile(latenciesMs, 0.5)),
    addedP99Ms: added(steady, ({ latenciesMs }) => percentile(latenciesMs, 0.99)),
    frameUs: spreadOf(streams.map((round) => perFrame(round[name]!, name))),
    frameRatio: spreadOf(
      streams.map((round) => perFrame(round[name]!, name) / perFrame(round[first]!, first)),
    ),
    addedFirstByteP99Ms: added(streams, ({ firstBytesMs }) => percentile(firstBytesMs, 0.99)),
    residentMb: [server.processId, ...server.workerIds].reduce((sum, id) => sum + readResidentMb(id), 0),
    failed: [...chat, ...steady, ...streams].reduce((sum, round) => sum + round[name]!.failed, 0),
  };
}

function perSecond({ completed, elapsedMs }: Sample): number {
  return (completed * 1000) / elapsedMs;
}
