import { Database } from "bun:sqlite";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { newSecret } from "../../src/lib/secret.ts";
import { SIMULATED_KEY, startOpenAi } from "../upstreams/openai.ts";
import type { Simulator } from "../upstreams/simulator.ts";
import { startTestGateway, until, type TestGateway } from "./gateway.ts";

/** The chat model of a fleet: input is free, an output token costs this many nano-units. */
export const MODEL = "fleet-chat";
export const TOKEN_NANOS = 1_000n;

export interface FleetOptions {
  /** Separate programs over one store, each on a port of its own. */
  machines?: number;
  /** Processes of one program on one port. */
  workers?: number;
  /** Simulated vendors; the model's route asks them in this order. */
  vendors?: number;
  /** PostgreSQL for all of them; one SQLite file unless told. */
  databaseUrl?: string;
  env?: Record<string, string>;
  /** Lines of the configuration besides channels and models. */
  yaml?: string;
  strategy?: "ordered" | "weighted";
  weights?: readonly number[];
  deadlines?: { firstByteMs?: number; idleMs?: number };
}

/** Several gateway processes over one store, in front of simulated vendors. */
export interface Fleet extends AsyncDisposable {
  gateways: readonly TestGateway[];
  vendors: readonly Simulator[];
  /** Ids of the processes that serve requests. */
  pids(): number[];
  /** Sends a chat request to one of the gateways, any unless told. */
  chat(request?: ChatRequest): Promise<Response>;
  /** The rows of a query of the store. Whole numbers are bigints. */
  query(text: string): Promise<Record<string, unknown>[]>;
}

export interface ChatRequest {
  /** Output tokens, which are also the most it may have. */
  tokens?: number;
  prompt?: string;
  gateway?: TestGateway;
  key?: string;
  requestId?: string;
  isStream?: boolean;
  model?: string;
  signal?: AbortSignal;
}

export async function openFleet(options: FleetOptions = {}): Promise<Fleet> {
  const { machines = 1, workers = 1, databaseUrl } = options;
  const vendors = await Promise.all(Array.from({ length: options.vendors ?? 1 }, () => startOpenAi()));
  const directory = await mkdtemp(join(tmpdir(), "gateway-fleet-"));
  const key = newSecret();
  const start = () =>
    startTestGateway({
      yaml: fleetYaml(
        vendors.map(({ url }) => url),
        options,
      ),
      env: {
        VENDOR_KEY: SIMULATED_KEY,
        GATEWAY_BOOTSTRAP_KEY: key,
        ...(databaseUrl === undefined
          ? { GATEWAY_DATA_DIR: join(directory, "data") }
          : { DATABASE_URL: databaseUrl }),
        ...(workers > 1 && { WORKERS: String(workers), PORT: String(freePort()) }),
        ...options.env,
      },
    });
  // The first one makes the store; the others find it made.
  const gateways = [await start()];
  while (gateways.length < machines) gateways.push(await start());
  await Promise.all(gateways.map((gateway) => untilServing(gateway, workers)));
  return {
    gateways,
    vendors,
    pids: () => gateways.flatMap(({ pid }) => (workers > 1 ? childrenOf(pid) : [pid])),
    chat: (request = {}) => sendChat(request.gateway ?? anyOf(gateways), request),
    query: (text) =>
      databaseUrl === undefined
        ? Promise.resolve(queryFile(join(directory, "data", "gateway.sqlite"), text))
        : queryPostgres(databaseUrl, text),
    async [Symbol.asyncDispose]() {
      const pids = workers > 1 ? gateways.flatMap(({ pid }) => childrenOf(pid)) : [];
      await Promise.all(gateways.map((gateway) => gateway[Symbol.asyncDispose]()));
      for (const pid of pids) endProcess(pid);
      await Promise.all(vendors.map((vendor) => vendor.close()));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** What budgets have spent and hold. */
export async function readBudget(fleet: Pick<Fleet, "query">): Promise<{ spent: bigint; held: bigint }> {
  const [row] = await fleet.query("SELECT spent, held FROM budgets");
  if (!row) throw new Error("there is no budget");
  return { spent: BigInt(String(row["spent"])), held: BigInt(String(row["held"])) };
}

/** Processes that another one has started and that still run. */
export function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
      .trim()
      .split(" ")
      .filter(Boolean)
      .map(Number);
  } catch {
    return [];
  }
}

/** A loopback port that was free a moment ago. */
export function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = listener;
  listener.stop(true);
  return port;
}

/** SIGKILL; a process that has ended already is passed over. */
export function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

/** Waits until so many processes listen on a gateway's port. */
export async function untilServing(gateway: TestGateway, workers: number): Promise<void> {
  const port = Number(new URL(gateway.url).port);
  await until(
    `${workers} processes to listen`,
    () => (listeners(port) >= workers ? true : undefined),
    20_000,
  );
}

/** Listening sockets on a TCP port of this machine (proc_net_tcp: state 0A is LISTEN). */
export function listeners(port: number): number {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return readFileSync("/proc/net/tcp", "utf8")
    .split("\n")
    .filter((line) => {
      const [, local = "", , state] = line.trim().split(/\s+/);
      return local.endsWith(suffix) && state === "0A";
    }).length;
}

/** Writes a chat request as the body of a call. */
export function chatBody({
  tokens = 8,
  prompt = "hello",
  isStream = false,
  model = MODEL,
}: ChatRequest): object {
  return {
    model,
    max_tokens: tokens,
    messages: [{ role: "user", content: prompt }],
    ...(isStream && { stream: true }),
  };
}

function sendChat(gateway: TestGateway, request: ChatRequest): Promise<Response> {
  return gateway.call("/v1/chat/completions", {
    body: chatBody(request),
    headers: {
      ...(request.requestId !== undefined && { "x-request-id": request.requestId }),
      ...(request.key !== undefined && { authorization: `Bearer ${request.key}` }),
    },
    ...(request.signal && { signal: request.signal }),
  });
}

function anyOf<T>(items: readonly T[]): T {
  return items[Math.floor(Math.random() * items.length)]!;
}

function fleetYaml(urls: readonly string[], options: FleetOptions): string {
  const { firstByteMs = 5_000, idleMs = 5_000 } = options.deadlines ?? {};
  const targets = urls.map((_, index) => ({
    channel: `vendor-${index + 1}`,
    upstream_model: "gpt-5.4",
    weight: options.weights?.[index] ?? 1,
  }));
  const channels = urls.map((url, index) => [
    `vendor-${index + 1}`,
    {
      provider: "openai",
      base_url: `${url}/v1`,
      credential: { env: "VENDOR_KEY" },
      deadlines: { first_byte_ms: firstByteMs, idle_ms: idleMs },
    },
  ]);
  const configuration = {
    catalogue: { enabled: false },
    channels: Object.fromEntries(channels),
    models: {
      [MODEL]: {
        type: "chat",
        max_output_tokens: 100_000,
        price: { currency: "USD", per_million: { input: "0", output: "1" } },
        route: { strategy: options.strategy ?? "ordered", targets },
      },
    },
  };
  return `${Bun.YAML.stringify(configuration, null, 2)}\n${options.yaml ?? ""}`;
}

function queryFile(path: string, text: string): Record<string, unknown>[] {
  using database = new Database(path, { readonly: true, safeIntegers: true });
  return database.query<Record<string, unknown>, []>(text).all();
}

async function queryPostgres(url: string, text: string): Promise<Record<string, unknown>[]> {
  const sql = new SQL(url, { max: 1, bigint: true });
  try {
    return await sql.unsafe(text);
  } finally {
    await sql.close();
  }
}
