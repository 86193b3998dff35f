import { launchGateway } from "../gateway.ts";
import { startClosedLoop } from "../load.ts";
import { interleave, measure, type Sample } from "../measure.ts";
import type { ServerProcess } from "../processes.ts";
import { ratioRow } from "../report.ts";
import type { Stage } from "../stage.ts";
import { chatPlan, checkChat } from "./w1-chat.ts";
import { compareRounds, cpuPerRequest, type Workload } from "./workload.ts";

const WORKERS = 2;
/** Enough that the kernel gives every worker some of them. */
const CONNECTIONS = 128;
const GROWTH_BAR = 1.8;

/**
 * Chat with one worker and with two. One worker has a core of its own; two share both cores with mock and load, whose
 * processor time is taken out.
 */
export const workersWorkload: Workload = {
  id: "W12",
  title: `chat with 1 and with ${WORKERS} workers`,
  async run(stage) {
    const { hostname, port } = stage.mock.address;
    const gateway = await launchGateway(stage.machine, `http://${hostname}:${port}`, undefined, {
      workers: WORKERS,
    });
    try {
      await checkChat({ ...stage, gateway });
      const rounds = await interleave(stage.options.rounds, {
        floor: turn(stage, stage.gateway),
        gateway: turn({ ...stage, gateway }, gateway),
      });
      const names = (figure: string) => ({ workload: "W12", figure: `${figure}, ${WORKERS} workers over 1` });
      return {
        rows: [
          ratioRow(names("requests/s"), {
            ...compareRounds(rounds, (sample, isGateway) => capacityOf(sample, isGateway ? WORKERS : 1)),
            unit: "/s",
            bar: GROWTH_BAR,
            isAtLeast: true,
          }),
          ratioRow(names("CPU per request"), { ...compareRounds(rounds, cpuPerRequest), unit: "us" }),
        ],
        cpuSamples: rounds.flatMap((round) => Object.values(round)),
        latencySamples: [],
      };
    } finally {
      await gateway.stop();
    }
  },
};

function turn(stage: Stage, server: ServerProcess) {
  const window = { warmUpMs: 300, durationMs: stage.options.seconds * 1000 };
  return () =>
    measure(
      { measured: server, mock: stage.mock },
      () => startClosedLoop({ ...chatPlan(stage, server), connections: CONNECTIONS }),
      window,
    );
}

/**
 * Requests per second if workers had as many cores to themselves. Where they share them with mock and load, what those
 * used is taken out; time in which a core was idle counts against the workers.
 */
export function capacityOf({ completed, elapsedMs, loadShare }: Sample, workers: number): number {
  const coresLeft = workers === 1 ? 1 : workers - loadShare;
  return ((completed * 1000) / elapsedMs / coresLeft) * workers;
}
