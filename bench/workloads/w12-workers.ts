import { join } from "node:path";
import { launchGateway } from "../gateway.ts";
import { startClosedLoop } from "../load.ts";
import { BOTH_CORES } from "../machine.ts";
import { interleave, measure, type Sample, warmUp } from "../measure.ts";
import { type ServerProcess, startScript } from "../processes.ts";
import { growthRow, type Row } from "../report.ts";
import type { Stage } from "../stage.ts";
import { chatPlan, checkChat } from "./w1-chat.ts";
import { compareRounds, cpuPerRequest, type Workload } from "./workload.ts";
import { freePort } from "../../test/support/free-port.ts";

const WORKERS = 2;
/** So many connections that the kernel assigns some of them to every worker. */
const CONNECTIONS = 128;
const GROWTH_BAR = 1.8;

/**
 * Compares chat through one worker and two. One worker has its own core. Two workers share both cores with mock and
 * load generator, whose time is subtracted. The baseline server is `bare-bun` with as many processes.
 */
export const workersWorkload: Workload = {
  id: "W12",
  title: `chat with 1 and with ${WORKERS} workers`,
  async run(stage) {
    const started: ServerProcess[] = [];
    try {
      const upstream = `http://${stage.mock.address.hostname}:${stage.mock.address.port}`;
      const gateway = await launchGateway(stage.machine, upstream, undefined, { workers: WORKERS });
      started.push(gateway);
      const port = freePort();
      for (let worker = 0; worker < WORKERS; worker += 1)
        started.push(await startBare(stage, upstream, port));
      const [, bareBun, ...others] = started as [ServerProcess, ServerProcess, ...ServerProcess[]];
      const bareBuns = { ...bareBun, workerIds: others.map(({ processId }) => processId) };
      const two = { ...stage, gateway };
      await checkChat(two);
      const rounds = await interleave(stage.options.rounds, {
        floorOne: await warmTurn(stage, stage.bareBun),
        one: await warmTurn(stage, stage.gateway),
        floorTwo: await warmTurn(two, bareBuns),
        two: await warmTurn(two, gateway),
      });
      return {
        rows: rowsOf(rounds),
        cpuSamples: rounds.flatMap((round) => Object.values(round)),
        latencySamples: [],
      };
    } finally {
      for (const server of started) await server.stop();
    }
  },
};

function startBare(stage: Stage, upstream: string, port: number): Promise<ServerProcess> {
  return startScript(stage.machine, {
    name: "bare-bun",
    core: BOTH_CORES,
    arguments: [join(import.meta.dir, "../bare-bun.ts"), upstream, String(port)],
  });
}

function rowsOf(rounds: Record<"floorOne" | "one" | "floorTwo" | "two", Sample>[]): Row[] {
  const growth = (figure: (sample: Sample, workers: number) => number) => {
    const of = (before: "floorOne" | "one", after: "floorTwo" | "two") =>
      compareRounds(
        rounds.map((round) => ({ floor: round[before], gateway: round[after] })),
        (sample, isGrown) => figure(sample, isGrown ? WORKERS : 1),
      );
    return { floor: of("floorOne", "floorTwo"), gateway: of("one", "two") };
  };
  const names = (figure: string) => ({ workload: "W12", figure: `${figure}, ${WORKERS} workers over 1` });
  return [
    growthRow(names("requests/s"), { ...growth(capacityOf), unit: "/s", bar: GROWTH_BAR }),
    growthRow(names("CPU per request"), { ...growth(cpuPerRequest), unit: "us" }),
  ];
}

async function warmTurn(stage: Stage, server: ServerProcess): Promise<() => Promise<Sample>> {
  const window = { warmUpMs: 300, durationMs: stage.options.seconds * 1000 };
  const start = () => startClosedLoop({ ...chatPlan(stage, server), connections: CONNECTIONS });
  await warmUp(server, start);
  return () => measure({ measured: server, mock: stage.mock }, start, window);
}

/**
 * Returns the requests per second that the workers would reach with one core for each worker. Two workers share their
 * cores with mock and load generator, whose time is therefore subtracted. Idle time counts against the workers.
 */
export function capacityOf({ completed, elapsedMs, loadShare }: Sample, workers: number): number {
  const coresLeft = workers === 1 ? 1 : workers - loadShare;
  return ((completed * 1000) / elapsedMs / coresLeft) * workers;
}
