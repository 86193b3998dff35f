import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chatRequestBody, UPSTREAM_MODEL } from "../chat-samples.ts";
import { type Address, exchange, wireRequest } from "../client-connection.ts";
import { expectEqual } from "../equivalence.ts";
import { type Gateway, launchGateway } from "../gateway.ts";
import { startClosedLoop } from "../load.ts";
import { LOAD_CORE, SERVER_CORE } from "../machine.ts";
import { interleave, measure, type Sample, warmUp } from "../measure.ts";
import { startScript, type ServerProcess } from "../processes.ts";
import { ratioRow, type Row } from "../report.ts";
import type { Stage } from "../stage.ts";
import type { StaticReplies } from "../static-reply.ts";
import { spreadOf } from "../statistics.ts";
import { chatPlan } from "./w1-chat.ts";
import { compareRounds, cpuPerRequest, type Workload } from "./workload.ts";

const TARGETS = 50;
/** A target is ejected at its fifth consecutive failure, so the first four requests may call all targets. */
const WALKS = 4;
/** Number of models, each with its own targets. The first `UNCOUNTED_MODELS` only warm up and are not measured. */
const MODELS = 240;
const UNCOUNTED_MODELS = 180;
const WARM_MODEL = "bench-warm";
const CONNECTIONS = 64;
const WALK_BAR = 1.3;
const WARM_BAR = 1.1;
const PATH = "/v1/chat/completions";

/** Only the last of fifty targets works. Early requests call all targets, later requests skip ejected targets. */
export const failoverWorkload: Workload = {
  id: "W8",
  title: `failover over ${TARGETS} targets, the last answers`,
  async run(stage) {
    const folder = mkdtempSync(join(tmpdir(), "bench-failover-"));
    const failing = await startFailing(stage, join(folder, "replies.json"));
    const bareWalk = await startScript(stage.machine, {
      name: "bare-walk",
      core: SERVER_CORE,
      arguments: [
        join(import.meta.dir, "../bare-walk.ts"),
        String(TARGETS - 1),
        urlOf(failing),
        urlOf(stage.mock),
      ],
    });
    const gateway = await launchGateway(stage.machine, urlOf(stage.mock), undefined, {
      configuration: configuration(urlOf(stage.mock), urlOf(failing)),
    });
    try {
      const walks = await measureWalks(gateway, bareWalk);
      const rounds = await measureWarm(stage, gateway);
      const warm = ratioRow(
        { workload: "W8", figure: "CPU per request with the others ejected, over W1" },
        { ...compareRounds(rounds, cpuPerRequest), unit: "us", bar: WARM_BAR },
      );
      return {
        rows: [walks, warm],
        cpuSamples: rounds.flatMap((round) => Object.values(round)),
        latencySamples: [],
      };
    } finally {
      await gateway.stop();
      await bareWalk.stop();
      await failing.stop();
      rmSync(folder, { recursive: true });
    }
  },
};

async function startFailing(stage: Stage, repliesPath: string): Promise<ServerProcess> {
  const body = JSON.stringify({
    error: { message: "overloaded", type: "server_error", code: null, param: null },
  });
  await Bun.write(repliesPath, JSON.stringify({ [PATH]: { status: 503, body } } satisfies StaticReplies));
  return startScript(stage.machine, {
    name: "failing vendor",
    core: LOAD_CORE,
    arguments: [join(import.meta.dir, "../static-reply.ts"), repliesPath],
  });
}

function configuration(mock: string, failing: string): Record<string, unknown> {
  const channel = (url: string) => ({
    provider: "openai",
    base_url: `${url}/v1`,
    credential: { env: "BENCH_UPSTREAM_KEY" },
  });
  const model = (name: string) => ({
    type: "chat",
    max_output_tokens: 4096,
    price: { currency: "USD", per_million: { input: "0.10", output: "0.40" } },
    route: {
      targets: [
        ...Array.from({ length: TARGETS - 1 }, (_, index) => ({
          channel: "failing",
          upstream_model: `${name}-${index}`,
        })),
        { channel: "mock", upstream_model: UPSTREAM_MODEL },
      ],
    },
  });
  const names = [...Array.from({ length: MODELS }, (_, index) => `bench-walk-${index}`), WARM_MODEL];
  return {
    routing: { max_attempts: TARGETS, retry_ratio: TARGETS, retry_floor: 100_000 },
    channels: { mock: channel(mock), failing: channel(failing) },
    models: Object.fromEntries(names.map((name) => [name, model(name)])),
  };
}

/** Measures requests one by one: each through the gateway, and as the same fifty calls by the server `bare-walk`. */
async function measureWalks(gateway: Gateway, bareWalk: ServerProcess): Promise<Row> {
  const rounds: { bare: number; through: number }[] = [];
  for (let model = 0; model < MODELS; model += 1) {
    for (let walk = 0; walk < WALKS; walk += 1) {
      const bare = await timed(() => call(bareWalk.address, requestFor(gateway, UPSTREAM_MODEL)));
      const through = await timed(() => call(gateway.address, requestFor(gateway, `bench-walk-${model}`)));
      if (model >= UNCOUNTED_MODELS) rounds.push({ bare, through });
    }
  }
  return ratioRow(
    { workload: "W8", figure: `one request over ${TARGETS} targets, over ${TARGETS} bare calls` },
    {
      floor: spreadOf(rounds.map(({ bare }) => bare)),
      gateway: spreadOf(rounds.map(({ through }) => through)),
      ratio: spreadOf(rounds.map(({ bare, through }) => through / bare)),
      unit: "ms",
      bar: WALK_BAR,
    },
  );
}

async function call(address: Address, request: Buffer): Promise<void> {
  const reply = await exchange(address, request);
  expectEqual("status after failing over", reply.status, 200);
}

async function measureWarm(stage: Stage, gateway: Gateway): Promise<Record<"floor" | "gateway", Sample>[]> {
  for (let walk = 0; walk <= WALKS; walk += 1) await call(gateway.address, requestFor(gateway, WARM_MODEL));
  const window = { warmUpMs: 300, durationMs: stage.options.seconds * 1000 };
  const servers = (measured: ServerProcess) => ({ measured, mock: stage.mock });
  const warm = { address: gateway.address, requests: [requestFor(gateway, WARM_MODEL)], expectedStatus: 200 };
  const chat = { ...chatPlan(stage, stage.gateway), requests: [requestFor(stage.gateway, "bench-chat")] };
  const startOn = (plan: typeof warm) => () => startClosedLoop({ ...plan, connections: CONNECTIONS });
  await warmUp(stage.gateway, startOn(chat));
  await warmUp(gateway, startOn(warm));
  const turn = (server: ServerProcess, plan: typeof warm) => () =>
    measure(servers(server), startOn(plan), window);
  return interleave(stage.options.rounds, { floor: turn(stage.gateway, chat), gateway: turn(gateway, warm) });
}

function requestFor(gateway: Gateway, model: string): Buffer {
  return wireRequest({ method: "POST", path: PATH, key: gateway.key, body: chatRequestBody({ model }) });
}

function urlOf({ address }: ServerProcess): string {
  return `http://${address.hostname}:${address.port}`;
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
