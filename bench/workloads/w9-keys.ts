import { Database } from "bun:sqlite";
import { newSecret } from "../../src/lib/secret.ts";
import { chatRequestBody, PUBLIC_MODEL } from "../chat-samples.ts";
import { exchange, wireRequest } from "../client-connection.ts";
import { type Gateway, launchGateway } from "../gateway.ts";
import { startClosedLoop } from "../load.ts";
import { readResidentMb } from "../machine.ts";
import { interleave, measure, type Sample } from "../measure.ts";
import type { ServerProcess } from "../processes.ts";
import type { Row } from "../report.ts";
import type { Stage } from "../stage.ts";
import { spreadOf } from "../statistics.ts";
import { chatPlan } from "./w1-chat.ts";
import { cpuPerRequest, type Workload } from "./workload.ts";

const KEYS = 1_000_000;
/** Number of keys that the requests use. These keys are spread over the million keys. */
const USED = 20_000;
const CONNECTIONS = 64;
const ADDED_BAR_US = 3;
const MEMORY_BAR_MB = 100;
const REVOKED_BAR_MS = 1_000;

/** A million keys in the store: added processor time, memory, and the time until a disabled key is refused. */
export const manyKeysWorkload: Workload = {
  id: "W9",
  title: "one million keys",
  async run(stage) {
    const secrets = Array.from({ length: USED }, () => newSecret());
    const upstream = `http://${stage.mock.address.hostname}:${stage.mock.address.port}`;
    const gateway = await launchGateway(stage.machine, upstream, undefined, {
      fill: (path) => fill(path, secrets),
    });
    try {
      const requests = secrets.map((key) => requestWith(key));
      await useEach(gateway, requests);
      const rounds = await measureBoth(stage, gateway, requests);
      const memoryMb = readResidentMb(gateway.processId) - readResidentMb(stage.gateway.processId);
      return {
        rows: [cpuRow(rounds), memoryRow(memoryMb), revocationRow(await revokeAll(gateway, secrets))],
        cpuSamples: rounds.flatMap((round) => Object.values(round)),
        latencySamples: [],
      };
    } finally {
      await gateway.stop();
    }
  },
};

/** Writes a million keys to the store. Only keys that requests use have a known secret. */
function fill(databasePath: string, secrets: readonly string[]): void {
  using database = new Database(databasePath);
  const insert = database.prepare(
    `INSERT INTO api_keys (id, organization_id, name, hint, hash, scopes, models, is_disabled, limits, created_at, revision)
     VALUES (?, 'default', ?, 'gk_bench', ?, '["ai:*"]', '"*"', 0, '{}', ?, 0)`,
  );
  const every = KEYS / secrets.length;
  database.transaction(() => {
    for (let index = 0; index < KEYS; index += 1) {
      const secret = index % every === 0 ? secrets[index / every] : undefined;
      insert.run(
        idOf(index),
        `bench ${index}`,
        hashOf(secret ?? `nobody ${index}`),
        1_700_000_000_000 + index,
      );
    }
  })();
}

function idOf(index: number): string {
  return `key_bench${String(index).padStart(7, "0")}`;
}

function hashOf(secret: string): string {
  return new Bun.CryptoHasher("sha256").update(secret).digest("hex");
}

function requestWith(key: string): Buffer {
  return wireRequest({
    method: "POST",
    path: "/v1/chat/completions",
    key,
    body: chatRequestBody({ model: PUBLIC_MODEL }),
  });
}

/** Uses each key at least once, unmeasured, because the first use of a key queries the store. */
async function useEach(gateway: Gateway, requests: readonly Buffer[]): Promise<void> {
  const load = await startClosedLoop({
    address: gateway.address,
    requests,
    expectedStatus: 200,
    connections: CONNECTIONS,
  });
  load.openWindow();
  let completed = 0;
  while (completed < requests.length) {
    await Bun.sleep(200);
    const tally = load.closeWindow();
    completed += tally.completed;
    if (tally.failed > 0) throw new Error(`${tally.failed} of the keys were refused`);
    load.openWindow();
  }
  load.stop();
}

function measureBoth(
  stage: Stage,
  gateway: Gateway,
  requests: readonly Buffer[],
): Promise<Record<"floor" | "gateway", Sample>[]> {
  const window = { warmUpMs: 300, durationMs: stage.options.seconds * 1000 };
  const few = chatPlan(stage, stage.gateway);
  const turn = (server: ServerProcess, plan: typeof few) => () =>
    measure(
      { measured: server, mock: stage.mock },
      () => startClosedLoop({ ...plan, connections: CONNECTIONS }),
      window,
    );
  return interleave(stage.options.rounds, {
    floor: turn(stage.gateway, few),
    gateway: turn(gateway, { ...few, address: gateway.address, requests }),
  });
}

/** Disables some keys in turn. Returns the milliseconds from each command's end to the key's first refusal. */
async function revokeAll(gateway: Gateway, secrets: readonly string[]): Promise<number[]> {
  const every = KEYS / USED;
  const taken: number[] = [];
  for (let index = 0; index < 3; index += 1) {
    await gateway.run("keys", "disable", idOf(index * every));
    const disabledAt = performance.now();
    const request = requestWith(secrets[index] ?? "");
    while ((await exchange(gateway.address, request)).status === 200) await Bun.sleep(10);
    taken.push(performance.now() - disabledAt);
  }
  return taken;
}

function cpuRow(rounds: readonly { floor: Sample; gateway: Sample }[]): Row {
  const floor = spreadOf(rounds.map((round) => cpuPerRequest(round.floor)));
  const gateway = spreadOf(rounds.map((round) => cpuPerRequest(round.gateway)));
  const added = spreadOf(rounds.map((round) => cpuPerRequest(round.gateway) - cpuPerRequest(round.floor)));
  return {
    workload: "W9",
    figure: "CPU per request more than with two keys",
    floor: `${floor.median.toFixed(1)} us`,
    gateway: `${gateway.median.toFixed(1)} us`,
    comparison: `+${added.median.toFixed(1)} us (${added.min.toFixed(1)} to ${added.max.toFixed(1)})`,
    bar: `<= ${ADDED_BAR_US} us`,
    passed: added.median <= ADDED_BAR_US,
  };
}

function memoryRow(megabytes: number): Row {
  return {
    workload: "W9",
    figure: "resident memory more than with two keys",
    floor: "",
    gateway: "",
    comparison: `+${megabytes.toFixed(0)} MB`,
    bar: `<= ${MEMORY_BAR_MB} MB`,
    passed: megabytes <= MEMORY_BAR_MB,
  };
}

function revocationRow(taken: readonly number[]): Row {
  const longest = Math.max(...taken);
  return {
    workload: "W9",
    figure: "disabled key still accepted for",
    floor: "",
    gateway: "",
    comparison: `${longest.toFixed(0)} ms at most of ${taken.length}`,
    bar: `<= ${REVOKED_BAR_MS} ms`,
    passed: longest <= REVOKED_BAR_MS,
  };
}
