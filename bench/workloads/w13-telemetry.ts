import { join } from "node:path";
import { chatRequestBody } from "../chat-samples.ts";
import { wireRequest } from "../client-connection.ts";
import { type Gateway, launchGateway } from "../gateway.ts";
import { type Load, startClosedLoop } from "../load.ts";
import { cpuBetween, LOAD_CORE, readCpu } from "../machine.ts";
import { warmUp } from "../measure.ts";
import { startScript } from "../processes.ts";
import type { Row } from "../report.ts";
import type { Stage } from "../stage.ts";
import { spreadOf } from "../statistics.ts";
import { cpuPerRequest, type Workload } from "./workload.ts";

const CONNECTIONS = 64;
/** Minimum number of requests to each gateway in a round. */
const REQUESTS = 100_000;
const MAX_ROUND_MS = 600_000;
/** Longer than the five seconds after which spans are sent. */
const EXPORT_MS = 6_000;
const SAMPLED = 0.1;
/** Each request has two spans: one for the request itself and one for its call to a vendor. */
const SPANS = 2;
const CPU_BAR = 1.03;
const ERROR_BAR = 0.01;

/** The gateways of a round with their share of exported traces. Null means no telemetry. */
const GATEWAYS = { floor: null, control: null, metrics: 0, traces: SAMPLED } as const;
type Name = keyof typeof GATEWAYS;
const NAMES: readonly Name[] = ["floor", "control", "metrics", "traces"];

/**
 * Sandbox chats without telemetry, with metrics only, and with a tenth of the traces exported. Compares all threads'
 * processor time.
 */
export const telemetryWorkload: Workload = {
  id: "W13",
  title: "chat with OpenTelemetry at 10 %",
  async run(stage) {
    const collector = await startScript(stage.machine, {
      name: "otlp-sink",
      core: LOAD_CORE,
      arguments: [join(import.meta.dir, "../otlp-sink.ts")],
    });
    try {
      const address = `http://127.0.0.1:${collector.address.port}`;
      const rounds: Round[] = [];
      // Processes of one program differ in compiled code and memory addresses. So each half has new processes.
      for (const names of [NAMES, NAMES.toReversed()])
        rounds.push(...(await measureHalf(stage, address, names)));
      return {
        rows: [
          cpuRow(rounds, "traces", "CPU per request with 10 % of the traces, over none"),
          cpuRow(rounds, "metrics", "CPU per request with metrics alone, over none"),
          errorRow(rounds),
          spansRow(rounds),
        ],
        cpuSamples: [],
        latencySamples: [],
      };
    } finally {
      await collector.stop();
    }
  },
};

interface Cost {
  completed: number;
  cpuMs: number;
  /** The part of `cpuMs` that belongs to the thread which serves requests. */
  requestThreadMs: number;
}

type Costs = Record<Name, Cost>;

interface Round {
  costs: Costs;
  spansPerRequest: number;
}

/** Measures half of the rounds, with new gateways that are started and warmed up in the order of `names`. */
async function measureHalf(stage: Stage, collector: string, names: readonly Name[]): Promise<Round[]> {
  const gateways: Gateway[] = [];
  const rounds: Round[] = [];
  try {
    for (const name of names) gateways.push(await launch(stage, collector, GATEWAYS[name]));
    for (const gateway of gateways) await warmUp(gateway, () => startLoad(gateway));
    await Bun.sleep(EXPORT_MS);
    for (let round = 0; round < stage.options.rounds; round++) {
      const spansBefore = await spansAt(collector);
      const measured = await measureTogether(gateways);
      const spans = (await spansAt(collector)) - spansBefore;
      const costs = Object.fromEntries(measured.map((cost, index) => [names[index], cost])) as Costs;
      rounds.push({ costs, spansPerRequest: spans / costs.traces.completed });
      console.log(
        `  us a request, and in the requests' thread: ${NAMES.map((name) => textOf(name, costs[name])).join(", ")}`,
      );
    }
    return rounds;
  } finally {
    for (const gateway of gateways) await gateway.stop();
  }
}

function textOf(name: Name, { completed, cpuMs, requestThreadMs }: Cost): string {
  const [all, own] = [cpuMs, requestThreadMs].map((ms) => cpuPerRequest({ completed, cpuMs: ms }).toFixed(1));
  return `${name} ${all} (${own})`;
}

function launch({ machine, mock }: Stage, endpoint: string, sampled: number | null): Promise<Gateway> {
  const upstream = `http://127.0.0.1:${mock.address.port}`;
  const telemetry = sampled !== null && { telemetry: { endpoint, sample_ratio: sampled } };
  return launchGateway(machine, upstream, undefined, {
    configuration: { sandbox: { enabled: true }, ...telemetry },
  });
}

function startLoad({ address, key }: Gateway): Promise<Load> {
  const body = chatRequestBody({ model: "sandbox-chat" });
  const request = wireRequest({ method: "POST", path: "/v1/chat/completions", key, body });
  return startClosedLoop({ address, requests: [request], expectedStatus: 200, connections: CONNECTIONS });
}

/** Loads all gateways at the same time, so that other work on the machine affects all gateways equally. */
async function measureTogether(gateways: readonly Gateway[]): Promise<Cost[]> {
  const before = gateways.map(({ processId }) => readCpu([processId]));
  const loads = await Promise.all(gateways.map(startLoad));
  for (const load of loads) load.openWindow();
  const deadline = performance.now() + MAX_ROUND_MS;
  const isRunning = () => loads.some((load) => load.closeWindow().completed < REQUESTS);
  while (isRunning() && performance.now() < deadline) await Bun.sleep(20);
  for (const load of loads) load.stop();
  // The export's processor time belongs to the cost of the requests.
  await Bun.sleep(EXPORT_MS);
  return gateways.map(({ processId }, index): Cost => {
    const { completed, failed } = loads[index]!.closeWindow();
    if (failed > 0 || completed < REQUESTS)
      throw new Error(`${completed} were answered and ${failed} failed`);
    const after = readCpu([processId]);
    const thread = String(processId);
    const requestThreadMs = (after.get(thread) ?? 0) - (before[index]!.get(thread) ?? 0);
    return { completed, cpuMs: cpuBetween(before[index]!, after), requestThreadMs };
  });
}

async function spansAt(address: string): Promise<number> {
  return Number(await (await fetch(`${address}/spans`)).text());
}

function cpuRow(rounds: readonly Round[], name: Name, figure: string): Row & { ratio: number } {
  const floor = spreadOf(rounds.map(({ costs }) => cpuPerRequest(costs.floor)));
  const gateway = spreadOf(rounds.map(({ costs }) => cpuPerRequest(costs[name])));
  const ratio = spreadOf(rounds.map(({ costs }) => cpuPerRequest(costs[name]) / cpuPerRequest(costs.floor)));
  return {
    workload: "W13",
    figure,
    floor: `${floor.median.toFixed(1)} us (${floor.min.toFixed(1)} to ${floor.max.toFixed(1)})`,
    gateway: `${gateway.median.toFixed(1)} us (${gateway.min.toFixed(1)} to ${gateway.max.toFixed(1)})`,
    comparison: `${ratio.median.toFixed(3)}x (${ratio.min.toFixed(3)} to ${ratio.max.toFixed(3)})`,
    bar: `<= ${CPU_BAR}x`,
    passed: ratio.median <= CPU_BAR,
    ratio: ratio.median,
  };
}

/** Returns the row of the control: two gateways without telemetry differ only by the error of the measurement. */
function errorRow(rounds: readonly Round[]): Row {
  const row = cpuRow(rounds, "control", "the same of a second gateway without, over the first");
  return {
    ...row,
    bar: `${1 - ERROR_BAR} to ${1 + ERROR_BAR}x`,
    passed: Math.abs(row.ratio - 1) <= ERROR_BAR,
  };
}

/** Returns the row that shows whether spans arrived. Without spans, the figures would describe disabled telemetry. */
function spansRow(rounds: readonly Round[]): Row {
  const { median } = spreadOf(rounds.map(({ spansPerRequest }) => spansPerRequest));
  return {
    workload: "W13",
    figure: "spans that the collector got, per request",
    floor: "",
    gateway: "",
    comparison: median.toFixed(3),
    bar: `about ${SAMPLED * SPANS}`,
    passed: Math.abs(median / (SAMPLED * SPANS) - 1) < 0.1,
  };
}
