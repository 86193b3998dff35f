import { startClosedLoop, startOpenLoop, type Load } from "../load.ts";
import { interleave, measure, type Sample, warmUp } from "../measure.ts";
import type { ServerProcess } from "../processes.ts";
import { addedRow, ratioRow, type Row } from "../report.ts";
import type { Stage } from "../stage.ts";
import { percentile, spreadOf } from "../statistics.ts";
import { chatPlan, checkChat } from "./w1-chat.ts";
import { compareRounds, cpuPerRequest, type Outcome, type Workload } from "./workload.ts";

/** Lengths of prompts, each with the rate at which such prompts are sent beside short requests. */
const GRADES = [
  { name: "10 KB", bytes: 10_000, besidePerSecond: 500 },
  { name: "100 KB", bytes: 100_000, besidePerSecond: 50 },
  { name: "1 MB", bytes: 1_000_000, besidePerSecond: 5 },
];
const CONNECTIONS = 16;
const SHORT_PER_SECOND = 1_000;
const CPU_BAR = 1.2;
const ADDED_P99_BAR_MS = 2;

/** Long prompts: their processor time compared with a buffering proxy, and the delay of short requests beside them. */
export const promptWorkload: Workload = {
  id: "W4",
  title: "long prompts beside short ones",
  async run(stage) {
    const outcome: Outcome = { rows: [], cpuSamples: [], latencySamples: [] };
    for (const server of [stage.bareBuffer, stage.gateway])
      await warmUp(server, () => startClosedLoop({ ...chatPlan(stage, server), connections: CONNECTIONS }));
    for (const grade of GRADES) {
      await checkChat(stage, grade.bytes);
      const cpu = await measureCpu(stage, grade.bytes);
      const latency = await measureBeside(stage, grade);
      outcome.cpuSamples.push(...cpu.flatMap((round) => Object.values(round)));
      outcome.latencySamples.push(...latency.flatMap((round) => Object.values(round)));
      outcome.rows.push(...rowsOf(grade.name, cpu, latency));
    }
    return outcome;
  },
};

function rowsOf(
  name: string,
  cpu: { floor: Sample; gateway: Sample }[],
  latency: Record<"floorAlone" | "floorBeside" | "alone" | "beside", Sample>[],
): Row[] {
  const p99 = (sample: Sample): number => percentile(sample.latenciesMs, 0.99);
  return [
    ratioRow(
      { workload: "W4", figure: `CPU per request of ${name}, over bare-buffer` },
      { ...compareRounds(cpu, cpuPerRequest), unit: "us", bar: CPU_BAR },
    ),
    addedRow(
      { workload: "W4", figure: `rise of the p99 of 1 KB beside ${name}` },
      {
        floor: spreadOf(latency.map(({ floorAlone, floorBeside }) => p99(floorBeside) - p99(floorAlone))),
        gateway: spreadOf(latency.map(({ alone, beside }) => p99(beside) - p99(alone))),
        barMs: ADDED_P99_BAR_MS,
      },
    ),
  ];
}

function measureCpu(stage: Stage, bytes: number) {
  const turn = (server: ServerProcess) => () =>
    measure(
      { measured: server, mock: stage.mock },
      () => startClosedLoop({ ...chatPlan(stage, server, bytes), connections: CONNECTIONS }),
      windowOf(stage),
    );
  return interleave(stage.options.rounds, { floor: turn(stage.bareBuffer), gateway: turn(stage.gateway) });
}

function measureBeside(stage: Stage, { bytes, besidePerSecond }: (typeof GRADES)[number]) {
  const open = (server: ServerProcess, requestsPerSecond: number, length?: number): Promise<Load> =>
    startOpenLoop({
      ...chatPlan(stage, server, length),
      machine: stage.machine,
      requestsPerSecond,
      connections: CONNECTIONS,
    });
  const turn = (server: ServerProcess, isBeside: boolean) => () =>
    measure(
      { measured: server, mock: stage.mock },
      async () => {
        const long = isBeside ? await open(server, besidePerSecond, bytes) : null;
        const short = await open(server, SHORT_PER_SECOND);
        const stop = (): void => {
          short.stop();
          long?.stop();
        };
        return {
          ...short,
          stop,
          processIds: [...new Set([...short.processIds, ...(long?.processIds ?? [])])],
        };
      },
      windowOf(stage),
    );
  return interleave(stage.options.rounds, {
    floorAlone: turn(stage.bareBuffer, false),
    floorBeside: turn(stage.bareBuffer, true),
    alone: turn(stage.gateway, false),
    beside: turn(stage.gateway, true),
  });
}

function windowOf({ options }: Stage) {
  return { warmUpMs: 300, durationMs: options.seconds * 1000 };
}
