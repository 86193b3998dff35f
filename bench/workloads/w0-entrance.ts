import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exchange, wireRequest } from "../client-connection.ts";
import { expectEqual } from "../equivalence.ts";
import { startClosedLoop } from "../load.ts";
import { SERVER_CORE } from "../machine.ts";
import { interleave, measure, type Sample } from "../measure.ts";
import { type ServerProcess, startScript } from "../processes.ts";
import { ratioRow } from "../report.ts";
import type { Stage } from "../stage.ts";
import type { StaticReplies } from "../static-reply.ts";
import { compareRounds, cpuPerRequest, type Outcome, type Workload } from "./workload.ts";

const CONNECTIONS = 64;
const CPU_BAR = 1.15;

interface EntranceCase {
  name: string;
  status: number;
  request: Buffer;
}

/**
 * Requests that need no upstream: the list of models, an invalid key, and a key that is used from a forbidden address.
 * The baseline server (floor) sends static responses.
 */
export const entranceWorkload: Workload = {
  id: "W0",
  title: "the door alone",
  async run(stage) {
    const cases = entranceCases(stage);
    const folder = mkdtempSync(join(tmpdir(), "bench-door-"));
    const floor = await startFloor(stage, cases, join(folder, "replies.json"));
    try {
      const outcome: Outcome = { rows: [], cpuSamples: [], latencySamples: [] };
      for (const entranceCase of cases) {
        const rounds = await measureCase(stage, floor, entranceCase);
        outcome.cpuSamples.push(...rounds.flatMap((round) => Object.values(round)));
        outcome.rows.push(
          ratioRow(
            { workload: "W0", figure: `CPU per request, ${entranceCase.name}` },
            { ...compareRounds(rounds, cpuPerRequest), unit: "us", bar: CPU_BAR },
          ),
        );
      }
      return outcome;
    } finally {
      await floor.stop();
      rmSync(folder, { recursive: true });
    }
  },
};

function entranceCases(stage: Stage): EntranceCase[] {
  const listWith = (key: string) => wireRequest({ method: "GET", path: "/v1/models", key });
  const { key, barredKey } = stage.gateway;
  return [
    { name: "model list", status: 200, request: listWith(key) },
    { name: "401", status: 401, request: listWith("gk_thisKeyIsNobodysAndNeverWasOne0123456789") },
    { name: "403", status: 403, request: listWith(barredKey) },
  ];
}

/** Starts a baseline server (floor) that sends the gateway's bytes. The path selects the response and its status. */
async function startFloor(stage: Stage, cases: EntranceCase[], repliesPath: string): Promise<ServerProcess> {
  const replies: StaticReplies = {};
  for (const { name, status, request } of cases) {
    const reply = await exchange(stage.gateway.address, request);
    expectEqual(`status of ${name}`, reply.status, status);
    replies[`/${status}`] = { status, body: reply.body };
  }
  await Bun.write(repliesPath, JSON.stringify(replies));
  return startScript(stage.machine, {
    name: "static-reply",
    core: SERVER_CORE,
    arguments: [join(import.meta.dir, "../static-reply.ts"), repliesPath],
  });
}

function measureCase(
  stage: Stage,
  floor: ServerProcess,
  entranceCase: EntranceCase,
): Promise<Record<"floor" | "gateway", Sample>[]> {
  const { rounds, seconds } = stage.options;
  const window = { warmUpMs: 200, durationMs: seconds * 500 };
  const floorRequest = wireRequest({
    method: "GET",
    path: `/${entranceCase.status}`,
    key: stage.gateway.key,
  });
  const turn = (server: ServerProcess, request: Buffer) => () =>
    measure(
      { measured: server, mock: stage.mock },
      () =>
        startClosedLoop({
          address: server.address,
          requests: [request],
          expectedStatus: entranceCase.status,
          connections: CONNECTIONS,
        }),
      window,
    );
  return interleave(rounds, {
    floor: turn(floor, floorRequest),
    gateway: turn(stage.gateway, entranceCase.request),
  });
}
