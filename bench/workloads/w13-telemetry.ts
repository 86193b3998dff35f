import { join } from "node:path";
import { chatRequestBody } from "../chat-samples.ts";
import { wireRequest } from "../client-connection.ts";
import { type Gateway, launchGateway } from "../gateway.ts";
import { type Load, startClosedLoop } from "../load.ts";
import { cpuBetween, LOAD_CORE, readCpu } from "../machine.ts";
import { interleave, type Sample, warmUp } from "../measure.ts";
import { type ServerProcess, startScript } from "../processes.ts";
import type { Row } from "../report.ts";
import type { Stage } from "../stage.ts";
import { compareRounds, cpuPerRequest, type Workload } from "./workload.ts";

const CONNECTIONS = 64;
/** Requests of a window. Spans are sent each second and metrics every ten, so a window must have many requests. */
const REQUESTS = 30_000;
const MAX_WINDOW_MS = 300_000;
const SAMPLED = 0.1;
/** A request without a call to a vendor has one span, one with a call has two. */
const SPANS = 2;
const CPU_BAR = 1.03;

/** Chats of the sandbox without telemetry and with a tenth of the traces exported: processor time of all threads. */
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
      const off = { ...(await launch(stage, null)), name: "without telemetry" };
      started.push(off);
      const exporting = { ...(await launch(stage, address)), name: "with 10 %" };
      started.push(exporting);
      for (const gateway of [off, exporting]) await warmUp(gateway, () => startLoad(gateway));
      const before = await spansAt(address);
      const rounds = await interleave(stage.options.rounds, {
        floor: () => measureMany(off),
        gateway: () => measureMany(exporting),
      });
      const spans = (await spansAt(address)) - before;
      const requests = (rounds.length + 1) * REQUESTS;
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

/** One window of a number of requests. */
async function measureMany(gateway: Gateway): Promise<Sample> {
  const load = await startLoad(gateway);
  try {
    await Bun.sleep(300);
    const before = readCpu([gateway.processId]);
    load.openWindow();
    const deadline = performance.now() + MAX_WINDOW_MS;
    while (load.closeWindow().completed < REQUESTS && performance.now() < deadline) await Bun.sleep(50);
    const tally = load.closeWindow();
    const cpuMs = cpuBetween(before, readCpu([gateway.processId]));
    if (tally.failed > 0 || tally.completed < REQUESTS)
      throw new Error(`${tally.completed} requests were answered and ${tally.failed} failed`);
    const sample = { ...tally, cpuMs, loadShare: 0, emptyWindows: 0 };
    console.log(`  ${gateway.name}: ${cpuPerRequest(sample).toFixed(1)} us`);
    return sample;
  } finally {
    load.stop();
  }
}

async function spansAt(address: string): Promise<number> {
  return Number(await (await fetch(`${address}/spans`)).text());
}

function cpuRow(rounds: readonly { floor: Sample; gateway: Sample }[]): Row {
  const { floor, gateway, ratio } = compareRounds(rounds, cpuPerRequest);
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

/** Says that spans arrived: without them the processor time would be that of no telemetry. */
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
