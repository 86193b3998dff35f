import { join } from "node:path";
import { chatRequestBody, PUBLIC_MODEL } from "../chat-samples.ts";
import { wireRequest } from "../client-connection.ts";
import { type Gateway, launchGateway } from "../gateway.ts";
import { type Load, startClosedLoop } from "../load.ts";
import { cpuBetween, LOAD_CORE, readCpu } from "../machine.ts";
import { startScript } from "../processes.ts";
import type { Row } from "../report.ts";
import type { Stage } from "../stage.ts";
import { type Spread, spreadOf } from "../statistics.ts";
import { cpuPerRequest, type Workload } from "./workload.ts";

const CONNECTIONS = 64;
/** Minimum number of measured requests to each gateway in a round. */
const REQUESTS = 100_000;
/** Number of requests before a round. Until then, compilation takes a different time in each process. */
const WARM_UP_REQUESTS = 50_000;
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
 * Chats with a vendor without telemetry, with metrics only, and with a tenth of the traces exported. Compares all
 * threads' processor time. Processes of one program differ in compiled code and memory addresses. So each round has new
 * processes, and the costs without telemetry are the mean of two gateways.
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
      for (let round = 0; round < stage.options.rounds; round++) {
        // Each gateway is started first, second, third and fourth in turn.
        const first = round % NAMES.length;
        rounds.push(await measureRound(stage, address, [...NAMES.slice(first), ...NAMES.slice(0, first)]));
      }
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

/** Measures new gateways that are started in the order of `names`. */
async function measureRound(stage: Stage, collector: string, names: readonly Name[]): Promise<Round> {
  const gateways: Gateway[] = [];
  try {
    for (const name of names) gateways.push(await launch(stage, collector, GATEWAYS[name]));
    await measureTogether(gateways, WARM_UP_REQUESTS);
    const spansBefore = await spansAt(collector);
    const measured = await measureTogether(gateways, REQUESTS);
    const spans = (await spansAt(collector)) - spansBefore;
    const costs = Object.fromEntries(measured.map((cost, index) => [names[index], cost])) as Costs;
    console.log(
      `  us a request, and in the requests' thread: ${NAMES.map((name) => textOf(name, costs[name])).join(", ")}`,
    );
    return { costs, spansPerRequest: spans / costs.traces.completed };
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
  const telemetry = { telemetry: { endpoint, sample_ratio: sampled } };
  return launchGateway(machine, upstream, undefined, { configuration: sampled === null ? {} : telemetry });
}

function startLoad({ address, key }: Gateway): Promise<Load> {
  const body = chatRequestBody({ model: PUBLIC_MODEL });
  const request = wireRequest({ method: "POST", path: "/v1/chat/completions", key, body });
  return startClosedLoop({ address, requests: [request], expectedStatus: 200, connections: CONNECTIONS });
}

/** Loads all gateways at the same time, so that other work on the machine affects all gateways equally. */
async function measureTogether(gateways: readonly Gateway[], requests: number): Promise<Cost[]> {
  const before = gateways.map(({ processId }) => readCpu([processId]));
  const loads = await Promise.all(gateways.map(startLoad));
  for (const load of loads) load.openWindow();
  const deadline = performance.now() + MAX_ROUND_MS;
  const isRunning = () => loads.some((load) => load.closeWindow().completed < requests);
  while (isRunning() && performance.now() < deadline) await Bun.sleep(20);
  for (const load of loads) load.stop();
  // The export's processor time belongs to the cost of the requests.
  await Bun.sleep(EXPORT_MS);
  return gateways.map(({ processId }, index): Cost => {
    const { completed, failed } = loads[index]!.closeWindow();
    if (failed > 0 || completed < requests)
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

function cpuRow(rounds: readonly Round[], name: Name, figure: string): Row {
  return rowOf(rounds, figure, {
    floor: ({ floor, control }) => (cpuPerRequest(floor) + cpuPerRequest(control)) / 2,
    gateway: (costs) => cpuPerRequest(costs[name]),
    bar: `<= ${CPU_BAR}x`,
    passes: (ratio) => ratio <= CPU_BAR,
  });
}

/** Returns the row of the two gateways without telemetry. They differ only by the error of the measurement. */
function errorRow(rounds: readonly Round[]): Row {
  return rowOf(rounds, "a second gateway without telemetry, over the first", {
    floor: ({ floor }) => cpuPerRequest(floor),
    gateway: ({ control }) => cpuPerRequest(control),
    bar: `${1 - ERROR_BAR} to ${1 + ERROR_BAR}x`,
    passes: (ratio) => Math.abs(ratio - 1) <= ERROR_BAR,
  });
}

interface Comparison {
  floor(costs: Costs): number;
  gateway(costs: Costs): number;
  bar: string;
  passes(ratio: number): boolean;
}

function rowOf(rounds: readonly Round[], figure: string, { floor, gateway, bar, passes }: Comparison): Row {
  const spread = (of: (costs: Costs) => number) => spreadOf(rounds.map(({ costs }) => of(costs)));
  const text = ({ median, min, max }: Spread) =>
    `${median.toFixed(1)} us (${min.toFixed(1)} to ${max.toFixed(1)})`;
  const ratio = spread((costs) => gateway(costs) / floor(costs));
  return {
    workload: "W13",
    figure,
    floor: text(spread(floor)),
    gateway: text(spread(gateway)),
    comparison: `${ratio.median.toFixed(3)}x (${ratio.min.toFixed(3)} to ${ratio.max.toFixed(3)})`,
    bar,
    passed: passes(ratio.median),
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
