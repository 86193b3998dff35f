import { join } from "node:path";
import { chatRequestBody } from "../chat-samples.ts";
import { wireRequest } from "../client-connection.ts";
import { type Gateway, launchGateway } from "../gateway.ts";
import { type Load, startClosedLoop } from "../load.ts";
import { cpuBetween, LOAD_CORE, readCpu } from "../machine.ts";
import { type Sample, warmUp } from "../measure.ts";
import { type ServerProcess, startScript } from "../processes.ts";
import type { Row } from "../report.ts";
import type { Stage } from "../stage.ts";
import { spreadOf } from "../statistics.ts";
import { cpuPerRequest, type Workload } from "./workload.ts";

const CONNECTIONS = 64;
/** Minimum number of requests per round at each gateway. */
const REQUESTS = 30_000;
const MAX_ROUND_MS = 600_000;
/** Longer than the five seconds after which spans are sent. */
const EXPORT_MS = 6_000;
const SAMPLED = 0.1;
/** Number of spans of one request: one for the request, and one for its call to a vendor. */
const SPANS = 2;
const CPU_BAR = 1.03;

/** Sandbox chats without telemetry and with a tenth of the traces exported. Measures all threads' processor time. */
export const telemetryWorkload: Workload = {
  id: "W13",
  title: "chat with OpenTelemetry at 10 %",
  async run(stage) {
    const started: ServerProcess[] = [];
    try {
      const collector = await startScript(stage.machine, {
        name: "otlp-sink",
        core: LOAD_CORE,
        arguments: [join(import.meta.dir, "../otlp-sink.ts")],
      });
      started.push(collector);
      const address = `http://127.0.0.1:${collector.address.port}`;
      const off = await launch(stage, null);
      started.push(off);
      const exporting = await launch(stage, address);
      started.push(exporting);
      for (const gateway of [off, exporting]) await warmUp(gateway, () => startLoad(gateway));
      const before = await spansAt(address);
      const rounds: Round[] = [];
      for (let round = 0; round < stage.options.rounds; round++)
        rounds.push(await measureRound({ floor: off, gateway: exporting }));
      const spans = (await spansAt(address)) - before;
      const requests = rounds.reduce((sum, { gateway }) => sum + gateway.completed, 0);
      return {
        rows: [cpuRow(rounds), spansRow(spans / requests)],
        cpuSamples: [],
        latencySamples: [],
      };
    } finally {
      for (const server of started.toReversed()) await server.stop();
    }
  },
};

type Cost = Pick<Sample, "completed" | "cpuMs">;
type Round = Record<"floor" | "gateway", Cost>;
const NAMES: readonly (keyof Round)[] = ["floor", "gateway"];

function launch({ machine, mock }: Stage, endpoint: string | null): Promise<Gateway> {
  const upstream = `http://127.0.0.1:${mock.address.port}`;
  const telemetry = endpoint !== null && { telemetry: { endpoint, sample_ratio: SAMPLED } };
  return launchGateway(machine, upstream, undefined, {
    configuration: { sandbox: { enabled: true }, ...telemetry },
  });
}

function startLoad({ address, key }: Gateway): Promise<Load> {
  const body = chatRequestBody({ model: "sandbox-chat" });
  const request = wireRequest({ method: "POST", path: "/v1/chat/completions", key, body });
  return startClosedLoop({ address, requests: [request], expectedStatus: 200, connections: CONNECTIONS });
}

/** Measures both gateways at the same time, so that other work on the machine affects both equally. */
async function measureRound(gateways: Record<keyof Round, Gateway>): Promise<Round> {
  const servers = NAMES.map((name) => gateways[name]);
  const before = servers.map(({ processId }) => readCpu([processId]));
  const loads = await Promise.all(servers.map(startLoad));
  for (const load of loads) load.openWindow();
  const deadline = performance.now() + MAX_ROUND_MS;
  const isRunning = () => loads.some((load) => load.closeWindow().completed < REQUESTS);
  while (isRunning() && performance.now() < deadline) await Bun.sleep(20);
  for (const load of loads) load.stop();
  // The processor time of the export counts as part of the requests' cost.
  await Bun.sleep(EXPORT_MS);
  const [floor, gateway] = servers.map(({ processId }, index): Cost => {
    const { completed, failed } = loads[index]!.closeWindow();
    if (failed > 0 || completed < REQUESTS)
      throw new Error(`${completed} were answered and ${failed} failed`);
    return { completed, cpuMs: cpuBetween(before[index]!, readCpu([processId])) };
  });
  const round: Round = { floor: floor!, gateway: gateway! };
  const [without, exporting] = NAMES.map((name) => cpuPerRequest(round[name]).toFixed(1));
  console.log(`  ${without} us without telemetry, ${exporting} us with it`);
  return round;
}

async function spansAt(address: string): Promise<number> {
  return Number(await (await fetch(`${address}/spans`)).text());
}

function cpuRow(rounds: readonly Round[]): Row {
  const floor = spreadOf(rounds.map((round) => cpuPerRequest(round.floor)));
  const gateway = spreadOf(rounds.map((round) => cpuPerRequest(round.gateway)));
  const ratio = spreadOf(rounds.map((round) => cpuPerRequest(round.gateway) / cpuPerRequest(round.floor)));
  const ofMedians = gateway.median / floor.median;
  return {
    workload: "W13",
    figure: "CPU per request with 10 % of the traces, over none",
    floor: `${floor.median.toFixed(1)} us (${floor.min.toFixed(1)} to ${floor.max.toFixed(1)})`,
    gateway: `${gateway.median.toFixed(1)} us (${gateway.min.toFixed(1)} to ${gateway.max.toFixed(1)})`,
    comparison: `${ofMedians.toFixed(3)}x of medians (${ratio.min.toFixed(3)} to ${ratio.max.toFixed(3)})`,
    bar: `<= ${CPU_BAR}x`,
    passed: ofMedians <= CPU_BAR,
  };
}

/** Reports that spans arrived. Without spans the measurement would show the processor time of disabled telemetry. */
function spansRow(perRequest: number): Row {
  return {
    workload: "W13",
    figure: "spans that the collector got, per request",
    floor: "",
    gateway: "",
    comparison: perRequest.toFixed(3),
    bar: `about ${SAMPLED * SPANS}`,
    passed: Math.abs(perRequest / (SAMPLED * SPANS) - 1) < 0.1,
  };
}
